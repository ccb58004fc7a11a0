/** Changes to the kernel's Kconfig files, for symbols without a prompt: scripts/config can't set those. */
import { SandboxError } from '../errors.ts';

/**
 * Turns off symbols that are on by themselves, `def_bool y`.
 * @param kconfig the content of a Kconfig file
 * @throws SandboxError ERR_SANDBOX_MACHINE when one isn't in it exactly once, as in another release of the kernel
 */
export const turnOff = (kconfig: string, names: readonly string[]): string => names.reduce(turnOneOff, kconfig);

const turnOneOff = (kconfig: string, name: string): string => {
  const parts = kconfig.split(new RegExp(`^(config ${name}\\n[ \\t]+def_bool) y$`, 'm'));
  const [before, head, after] = parts;
  if (parts.length !== 3)
    throw new SandboxError('ERR_SANDBOX_MACHINE', `no single "def_bool y" of ${name} to turn off`);
  return `${before}${head} n${after}`;
};
