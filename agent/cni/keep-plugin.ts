/** The plugin keeper of a running agent. */
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import type { AgentContext } from '../wiring/context.ts';
import { PluginKeeper } from './plugin-keeper.ts';

/** @param resources ends it with the agent, which leaves the files */
export const keepPlugin = async (
  { options: { cniBinFolder, cniConfFolder, multiNetwork, node }, buildFolder, log }: AgentContext,
  resources: AsyncDisposableStack,
): Promise<PluginKeeper> => {
  const keeper = new PluginKeeper({
    ...{ node, cniBinFolder, cniConfFolder, multiNetwork: multiNetwork.mode },
    shim: join(buildFolder, 'udn-cni'),
    clock: systemClock,
    onProblems: (problems) => {
      if (problems.length === 0) log.info('CNI plugin installed again');
      else log.error({ problems: problems.map(({ message }) => message) }, 'CNI plugin differs from the desired state');
    },
    onRepaired: (folder) => log.warn({ folders: [folder] }, 'CNI plugin repaired'),
  });
  resources.defer(() => keeper.stop());
  await keeper.start();
  return keeper;
};
