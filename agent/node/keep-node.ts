/** Starts what keeps this node's gateway bridge and what is known of the node. */
import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import type { AgentOptions } from '../options/options.ts';
import { RETRY_MS } from '../wiring/core.ts';
import type { Edges } from '../wiring/edges.ts';
import { NodeKeeper } from './node-keeper.ts';
import { uplinkEffects } from './uplink/effects.ts';
import type { UplinkStep } from './uplink/types.ts';
import { Uplink } from './uplink/uplink.ts';

export interface KeepNodeContext {
  readonly options: Pick<AgentOptions, 'node' | 'gateway' | 'cluster' | 'encapIps' | 'encryption'>;
  readonly edges: Pick<Edges, 'databases' | 'netlink' | 'inputs' | 'metrics'>;
  readonly log: Logger;
}

/** @param resources ends it with the agent */
export const keepNode = ({ options, edges, log }: KeepNodeContext, resources: AsyncDisposableStack): NodeKeeper => {
  const { node, gateway, cluster, encapIps, encryption } = options;
  const { session, replica } = edges.databases.openvswitch;
  const { netlink } = edges;
  const child = log.child({ module: 'node' });
  const keeper = new NodeKeeper({
    node,
    options: gateway,
    cluster,
    encapIps,
    isEncrypted: encryption !== undefined,
    uplink: new Uplink(
      { options: gateway, masqueradeSubnets: cluster.masqueradeSubnets },
      uplinkEffects({ session, replica, netlink }),
      (step) => child.info(stepFields(step), 'gateway bridge changed'),
    ),
    netlink,
    session,
    replica,
    nodes: edges.inputs.nodes,
    onRepaired: () => edges.metrics.repaired('openvswitch'),
    onError: (error) => child.error({ err: error }, 'gateway bridge differs from the desired state'),
    later: (retry) => systemClock.schedule(RETRY_MS, retry),
  });
  resources.defer(() => keeper.stop());
  keeper.start();
  return keeper;
};

const stepFields = (step: UplinkStep): Record<string, unknown> =>
  step.kind === 'kernel' ? { step: step.kind, operations: step.ops.length } : { step: step.kind, bridge: step.bridge };
