import { systemClock } from '../../base/clock.ts';
import type { AgentContext } from '../wiring/context.ts';
import type { Core } from '../wiring/core.ts';
import type { Edges } from '../wiring/edges.ts';
import { foreignNetwork } from './attachments/foreign-status.ts';
import { type NetworkStatusKeeper, StatusKeeper } from './attachments/status-keeper.ts';
import type { ForeignAttachments } from './foreign/foreign-attachments.ts';
import type { OvsPorts } from './ovs-ports.ts';

interface Parts {
  readonly edges: Pick<Edges, 'inputs' | 'writer' | 'metrics' | 'emitPodEvent'>;
  readonly core: Pick<Core, 'registry'>;
  readonly ports: OvsPorts;
  readonly foreign: Pick<ForeignAttachments, 'made'>;
}

/** @param resources ends it with the agent */
export const keepNetworkStatus = (
  { options }: Pick<AgentContext, 'options'>,
  { edges: { inputs, writer, metrics, emitPodEvent }, core: { registry }, ports, foreign }: Parts,
  resources: AsyncDisposableStack,
): NetworkStatusKeeper => {
  if (options.multiNetwork.mode === 'delegated') return LEFT_TO_MULTUS;
  const keeper = new StatusKeeper({
    ...{ registry, ports, writer, pods: inputs.pods, clock: systemClock, random: Math.random },
    recorded: async (containerId) => (await foreign.made({ containerId })).map(foreignNetwork),
    onProblem: (pod, message) => emitPodEvent(pod, 'ErrorUpdatingResource', message),
    observe: metrics.networkStatus,
  });
  metrics.gauge('udn_agent_network_status_unwritten', () => keeper.unwritten().size);
  resources.defer(() => keeper.stop());
  return keeper;
};

const LEFT_TO_MULTUS: NetworkStatusKeeper = {
  attached: () => {},
  detached: () => {},
  adopt: () => Promise.resolve(),
  unwritten: () => new Map(),
};
