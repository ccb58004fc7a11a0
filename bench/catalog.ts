/** All benchmarks, in the order in which they run: those that need a quiet machine most come first. */
import { benchAgent500, benchAgentIdle, benchAgentPerNetwork, benchAgentServices } from './agent/index.ts';
import { ATTACHMENTS_NAMES, benchCniAttachments } from './cni/attachments.ts';
import {
  benchCniBurst,
  benchCniDefault,
  benchCniNetworks,
  benchCniNetworksOnNode,
  benchCniPrimary,
} from './cni/index.ts';
import { benchNativeVsMultus } from './cni/multus.ts';
import type { BenchContext, SharedName } from './context.ts';
import { CONTROL_BENCHMARKS } from './control/index.ts';
import { benchFlows } from './datapath/flows.ts';
import { ADD_NETWORK_NAMES, benchAddNetwork, benchNetworkReady, READY_NAMES } from './datapath/network.ts';
import { benchOnDemand, ON_DEMAND_NAMES } from './datapath/on-demand.ts';
import { benchOvnCost, OVN_COST_NAMES } from './datapath/ovn-cost.ts';
import { SETTING_NAMES } from './datapath/ovn-names.ts';
import { benchOvnSettings } from './datapath/ovn-settings.ts';
import { benchRestart } from './datapath/restart.ts';
import { benchRoutes } from './datapath/routes.ts';
import { benchForward, FORWARD_NAMES } from './forward/index.ts';
import { benchInstall, INSTALL_NAMES } from './install/index.ts';
import { benchNodeStatusWrites, NODE_STATUS_WRITES_NAMES } from './node-status/in-memory.ts';
import { benchNodeStatus, NODE_STATUS_NAMES } from './node-status/index.ts';
import { benchSync, benchUpdates } from './ovsdb/index.ts';
import { ADD_NAMES, benchAddInPolicies } from './policies/add-pod.ts';
import { benchEnforce, ENFORCE_NAMES } from './policies/enforce.ts';
import { benchLabelChange, benchPoliciesStart, LABEL_NAMES, START_NAMES } from './policies/index.ts';
import { benchPeerMemory, MEMORY_NAMES } from './policies/memory.ts';
import { benchPolicyFlows, OVN_NAMES } from './policies/ovn.ts';
import { benchColdStart, benchPodEvent } from './render/index.ts';
import type { BenchResult } from './report/result.ts';
import { benchChurn, CHURN_NAMES } from './services/churn.ts';
import { benchConnections, benchNodePort, CONNECTION_NAMES, NODE_PORT_NAMES } from './services/connections.ts';
import { benchEndpointFlows, ENDPOINT_FLOWS_NAMES } from './services/endpoint-flows.ts';
import { benchEndpoint, benchServicesStart, ENDPOINT_NAMES } from './services/index.ts';
import { benchStartUntilOvn, START_OVN_NAMES } from './services/start-ovn.ts';
import { benchShimRss, benchShimVersion } from './shim/index.ts';

export interface Benchmark {
  /** Of the results that it gives. */
  readonly names: readonly string[];
  /** Prepares once, and measures in each run. */
  readonly run: (context: BenchContext) => Promise<BenchResult[]>;
  /** What it uses that others use as well. They stand together, so that it is not there while others measure. */
  readonly shares?: readonly SharedName[];
  /** Only when it is named: it takes many minutes, and says nothing about most changes. */
  readonly onRequest?: true;
}

/** Against the floor, and against the one that finds the pod's logical ports there. */
const singleNames = (kind: string): string[] =>
  [kind, `${kind}-strict`].flatMap((name) => ['p50', 'p99'].map((percentile) => `cni-add/${name}/${percentile}`));

const FLEET: readonly SharedName[] = ['fleet'];
const SMALL: readonly SharedName[] = ['small node'];

export const BENCHMARKS: readonly Benchmark[] = [
  { names: ['shim/version'], run: benchShimVersion },
  { names: FORWARD_NAMES, run: benchForward },
  { names: ['render/pod-event-1000'], run: benchPodEvent },
  { names: ['render/cold-start-500'], run: benchColdStart },
  { names: ENDPOINT_NAMES, run: benchEndpoint },
  { names: ENDPOINT_FLOWS_NAMES, run: benchEndpointFlows },
  { names: ['services/cold-start-10k'], run: benchServicesStart },
  { names: START_OVN_NAMES, run: benchStartUntilOvn },
  { names: CHURN_NAMES, run: benchChurn },
  { names: CONNECTION_NAMES, run: benchConnections },
  { names: NODE_PORT_NAMES.shared, run: benchNodePort('shared') },
  { names: NODE_PORT_NAMES.local, run: benchNodePort('local') },
  { names: LABEL_NAMES, run: benchLabelChange },
  { names: START_NAMES, run: benchPoliciesStart },
  { names: MEMORY_NAMES, run: benchPeerMemory },
  { names: OVN_NAMES, run: benchPolicyFlows },
  { names: ENFORCE_NAMES, run: benchEnforce },
  { names: ADD_NAMES, run: benchAddInPolicies },
  { names: ['ovsdb/sync-100k'], run: benchSync },
  { names: ['ovsdb/updates'], run: benchUpdates },
  ...CONTROL_BENCHMARKS.map((benchmark) => ({ ...benchmark, shares: FLEET })),
  { names: NODE_STATUS_NAMES, run: benchNodeStatus, shares: FLEET, onRequest: true },
  { names: NODE_STATUS_WRITES_NAMES, run: benchNodeStatusWrites },
  { names: ['agent/rss-500'], run: benchAgent500 },
  { names: ['agent/rss-services-10k'], run: benchAgentServices },
  { names: ['agent/rss-idle'], run: benchAgentIdle },
  { names: ['node/flows'], run: benchFlows },
  { names: ['node/routes'], run: benchRoutes },
  { names: READY_NAMES, run: benchNetworkReady },
  { names: OVN_COST_NAMES, run: benchOvnCost },
  { names: ON_DEMAND_NAMES, run: benchOnDemand },
  { names: SETTING_NAMES, run: benchOvnSettings, onRequest: true },
  { names: ADD_NETWORK_NAMES, run: benchAddNetwork, shares: ['few networks', 'many networks'] },
  { names: ['node/restart-500'], run: benchRestart, shares: ['many networks'] },
  { names: ATTACHMENTS_NAMES, run: benchCniAttachments },
  { names: ['cni-add/native-vs-multus'], run: benchNativeVsMultus },
  { names: singleNames('default'), run: benchCniDefault, shares: SMALL },
  { names: singleNames('primary'), run: benchCniPrimary, shares: SMALL },
  { names: ['cni-add/burst-50', 'cni-add/burst-50-strict'], run: benchCniBurst, shares: SMALL },
  { names: ['shim/rss'], run: benchShimRss, shares: SMALL },
  { names: ['cni-add/networks-1000'], run: benchCniNetworks, shares: ['small node', 'view node'] },
  // The node of these two has a part of a thousand networks: ovn-controller needs minutes for each change.
  {
    names: ['cni-add/networks-1000-on-node'],
    run: benchCniNetworksOnNode,
    shares: ['small node', 'large node'],
    onRequest: true,
  },
  // Two clusters with real kubelets for each run, and two hundred pods: some minutes.
  { names: INSTALL_NAMES, run: benchInstall, onRequest: true },
  { names: ['agent/rss-per-network'], run: benchAgentPerNetwork, shares: ['large node'], onRequest: true },
];

/**
 * @param beginnings of names; none: all but those on request, unless these are wanted, too
 * @throws Error when one is the beginning of no benchmark's name
 */
export const benchmarksNamed = (beginnings: readonly string[], isFull = false): readonly Benchmark[] => {
  const matches = ({ names }: Benchmark, beginning: string): boolean =>
    names.some((name) => name.startsWith(beginning));
  const unknown = beginnings.find((beginning) => !BENCHMARKS.some((benchmark) => matches(benchmark, beginning)));
  if (unknown !== undefined) throw new Error(`"${unknown}" is no benchmark: see --help`);
  return BENCHMARKS.filter((benchmark) =>
    beginnings.length === 0
      ? isFull || benchmark.onRequest !== true
      : beginnings.some((beginning) => matches(benchmark, beginning)),
  );
};
