/** Whether kube-proxy runs beside: in the cluster, and what of it is on this node. */
import { DAEMON_SETS } from '../../../kube/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { readAgentSettings } from './agent-settings.ts';
import { type Finding, findingOf, ok, warning } from './finding.ts';
import { find } from './installed.ts';

const NAME = 'kube-proxy';
const HOW = 'docs/services.md, "Coming from kube-proxy", says how to turn it off';

/** Where its DaemonSet is, as kubeadm makes it. */
const NAMESPACE = 'kube-system';

export const checkKubeProxy = (client: KubeClient, namespace: string): Promise<Finding> =>
  findingOf(NAME, async () => {
    if ((await find(client, DAEMON_SETS, { namespace: NAMESPACE, name: NAME })) !== undefined) {
      return warning(
        NAME,
        `it runs and is not needed: it translates traffic of hosts to ClusterIPs and node ports before OVN does, for tenants' Services to addresses that host isolation drops; ${HOW}`,
      );
    }
    const how = await howAgentsKnowServer(client, namespace);
    if (how !== undefined) return ok(`${NAME}: no DaemonSet in ${NAMESPACE}; agents use ${how}`);
    return warning(
      NAME,
      "no DaemonSet: without it the agents need a direct path to the API server, by the kubelet's kubeconfig (--kubelet-kubeconfig) or KUBERNETES_SERVICE_HOST in their settings",
    );
  });

const SERVER = 'KUBERNETES_SERVICE_HOST';

/** The address in a pod's own environment is a ClusterIP. Undefined: they know no other. */
const howAgentsKnowServer = async (client: KubeClient, namespace: string): Promise<string | undefined> => {
  const agents = await readAgentSettings(client, namespace);
  if (agents?.variables.has(SERVER)) return SERVER;
  return agents?.args.some((arg) => arg.startsWith(KUBELET_FLAG)) ? "the kubelet's kubeconfig" : undefined;
};

const KUBELET_FLAG = '--kubelet-kubeconfig=';

/** What is looked at on a node. */
export interface NodeTraces {
  /** Names of chains by nftables table, see `NftProgram`; those of iptables are tables, too. */
  readonly chains: () => Promise<ReadonlyMap<string, readonly string[]>>;
  readonly links: () => readonly string[];
  /** Names of programs that run, as far as they can be seen from here. */
  readonly processes: () => readonly string[];
}

/** None where nothing is found: whether it should be there is asked of the cluster. */
export const checkNodeProxy = async (node: NodeTraces): Promise<Finding[]> => {
  const what = `${NAME}, on this node`;
  const finding = await findingOf(what, async () => {
    const runs = node.processes().includes(NAME);
    const rules = [
      ...rulesAmong(await node.chains()),
      ...(node.links().includes(IPVS_LINK) ? [`link ${IPVS_LINK}`] : []),
    ];
    if (!runs && rules.length === 0) return ok(what);
    const has = [...(runs ? ['it runs'] : []), ...(rules.length === 0 ? [] : [`it has ${rules.join(', ')}`])].join(
      ', and ',
    );
    const then = runs ? HOW : `where it no longer runs, kube-proxy --cleanup or a restart removes them; ${HOW}`;
    return warning(what, `${has}: traffic of this host to ClusterIPs and node ports does not reach OVN; ${then}`);
  });
  return finding.result === 'ok' ? [] : [finding];
};

/** kube-proxy in mode ipvs has all ClusterIPs on it. */
const IPVS_LINK = 'kube-ipvs0';
/** Its own table in mode nftables; chains in those of iptables-nft, which the kubelet has some of, too. */
const TABLE = /^(?:ip|ip6) kube-proxy$/;
const CHAIN = 'KUBE-SERVICES';

const rulesAmong = (tables: ReadonlyMap<string, readonly string[]>): string[] =>
  [...tables].flatMap(([table, chains]) => {
    if (TABLE.test(table)) return [`nftables table ${table}`];
    return chains.includes(CHAIN) ? [`chain ${CHAIN} in table ${table}`] : [];
  });
