import { SandboxError } from '../errors.ts';

/** @throws SandboxError ERR_SANDBOX_MACHINE for another user than root */
export const requireRoot = (): void => {
  if (process.getuid?.() === 0) return;
  throw new SandboxError(
    'ERR_SANDBOX_MACHINE',
    'the sandbox needs root: it makes network namespaces, links and cgroups',
  );
};
