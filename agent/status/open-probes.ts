/** What the probes of a running agent look at. */
import type { PluginKeeper } from '../cni/plugin-keeper.ts';
import type { NodeHealth } from '../health/start.ts';
import { observeQueues } from '../metrics/metrics.ts';
import { observePolicies } from '../metrics/policies.ts';
import { LOCAL } from '../model/facts.ts';
import type { NodeKeeper } from '../node/node-keeper.ts';
import type { Reconcilers } from '../reconcile/reconcilers.ts';
import type { Core } from '../wiring/core.ts';
import type { Edges } from '../wiring/edges.ts';
import { reasonsNotAlive, reasonsNotProxying, reasonsNotServing } from './health.ts';
import { connectedDatabases, gatewayKnowledge, type Probes } from './probes.ts';
import type { Readiness } from './readiness.ts';

interface Parts {
  readonly edges: Pick<Edges, 'databases' | 'metrics'>;
  readonly core: Pick<Core, 'facts' | 'feeder'>;
  readonly keeper: NodeKeeper;
  readonly reconcilers: Reconcilers;
  readonly readiness: Pick<Readiness, 'reasons'>;
  readonly probes: Probes;
  readonly health: Pick<NodeHealth, 'components'>;
}

/** From now on the probes say what is. @returns to be called when CNI is served, and by which plugin */
export const openProbes = ({
  edges,
  core,
  keeper,
  reconcilers,
  readiness,
  probes,
  health,
}: Parts): ((plugin: Pick<PluginKeeper, 'problems'>) => void) => {
  const { databases, metrics } = edges;
  const queues = () => new Map([...reconcilers].map(([backend, reconciler]) => [backend, reconciler.queue()] as const));
  observeQueues(metrics, queues);
  observePolicies(metrics, core.facts, core.feeder.policies);
  metrics.gauge('udn_agent_kubelet_cgroup_found', () => {
    const kubelet = core.facts.get('kubeletCgroup', LOCAL);
    return Number(kubelet !== undefined && kubelet.isEmpty !== true);
  });
  let plugin: Pick<PluginKeeper, 'problems'> | undefined;
  const connected = connectedDatabases(databases);
  probes.alive = () => reasonsNotAlive(queues());
  probes.proxying = () => reasonsNotProxying({ connected, queues });
  probes.ready = () =>
    reasonsNotServing({
      podReasons: () => readiness.reasons(),
      isCniOpen: () => plugin !== undefined,
      // A configuration of others that comes first may call ours: who knows that reads the problem.
      pluginReasons: () =>
        (plugin?.problems() ?? []).filter(({ cause }) => cause === 'cni-not-installed').map(({ message }) => message),
      connected,
      queues,
      gateway: () => gatewayKnowledge(keeper),
      components: () => health.components(),
    });
  return (opened) => {
    plugin = opened;
  };
};
