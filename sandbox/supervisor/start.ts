/** Starts a sandbox on this machine's kernel or in a guest, whichever was asked for or has what is needed. */
import { findArtifacts } from '../artifacts.ts';
import { SandboxError } from '../errors.ts';
import { startGuestCluster } from '../guest/cluster.ts';
import { lackOf, readFeatures } from '../machine/features.ts';
import type { SandboxOptions } from '../plan/options.ts';
import { type ClusterCallbacks, startCluster } from './cluster.ts';
import type { OwnedControl } from './cluster-control.ts';

/** @throws SandboxError ERR_SANDBOX_MACHINE when the kernel that was asked for lacks what is needed */
export const startOnKernel = async (options: SandboxOptions, callbacks: ClusterCallbacks): Promise<OwnedControl> => {
  if (process.getuid?.() !== 0)
    throw new SandboxError(
      'ERR_SANDBOX_MACHINE',
      'the sandbox needs root: it makes network namespaces, links and cgroups',
    );
  if (options.kernel === 'guest') return await startGuestCluster(options, callbacks);
  const lack = options.needs.length === 0 ? [] : lackOf(await readFeatures(findArtifacts().toolbox), options.needs);
  if (lack.length === 0) return await startCluster(options, callbacks);
  if (options.kernel === 'auto') return await startGuestCluster(options, callbacks);
  const what = lack.join(' and ');
  throw new SandboxError('ERR_SANDBOX_MACHINE', `the kernel of this machine has no ${what}: use --kernel guest`);
};
