/** The cluster of the demo: it ends with this process, or lives on when it is to be kept. */
import { untilAborted } from '../base/abort.ts';
import { openSandbox, type Sandbox, startSandbox } from '../sandbox/index.ts';
import { startDetached } from '../sandbox/supervisor/detached.ts';
import type { DemoOptions } from './options.ts';

/**
 * @param signal gives the start up
 * @throws SandboxError; nothing is left then
 */
export const startDemoCluster = async (
  { name, nodes, api, keep }: Pick<DemoOptions, 'name' | 'nodes' | 'api' | 'keep'>,
  progress: (message: string) => void,
  signal: AbortSignal,
): Promise<Sandbox> => {
  const options = { name, nodes, api, ipFamily: 'dual' } as const;
  if (!keep) return await startSandbox(options, { progress, stop: untilAborted(signal) });
  await startDetached(options, progress);
  return openSandbox(name);
};
