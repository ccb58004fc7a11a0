/** Whether the agents expect what the cluster has: Multus, which calls them for each network, or none. */
import { DAEMON_SETS } from '../../../kube/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { readAgentSettings, settingOf } from './agent-settings.ts';
import { type Finding, findingOf, ok, warning } from './finding.ts';

const WHAT = 'multi-network';
const FLAG = `--${WHAT}=`;
const MULTUS = /^(?:kube-)?multus(?:-|$)/;
const MORE = 'udnctl problems names the nodes whose CNI configuration says otherwise';

/** None where they agree, and where there are no agents. */
export const checkMultiNetwork = async (client: KubeClient, namespace: string): Promise<Finding[]> => {
  const finding = await findingOf(WHAT, async () => {
    const mode = await modeOfAgents(client, namespace);
    const { items } = await client.list(DAEMON_SETS);
    const multus = items.find(({ metadata }) => MULTUS.test(metadata.name))?.metadata.name;
    if (mode === 'native' && multus !== undefined) {
      const then = 'where Multus is the first plugin of a node, its calls for networks of ovn-udn fail';
      return warning(WHAT, `${FLAG}native, and ${multus} is in the cluster: ${then}; ${MORE}`);
    }
    if (mode === 'delegated' && multus === undefined) {
      const then = 'pods get no networks that they select, unless Multus runs by other means';
      return warning(WHAT, `${FLAG}delegated, and there is no DaemonSet of Multus: ${then}; ${MORE}`);
    }
    return ok(WHAT);
  });
  return finding.result === 'ok' ? [] : [finding];
};

/** Undefined: there are no agents. */
const modeOfAgents = async (client: KubeClient, namespace: string): Promise<string | undefined> => {
  const agents = await readAgentSettings(client, namespace);
  return agents && (settingOf(agents, WHAT) ?? 'native');
};
