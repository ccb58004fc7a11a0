/** What is known to be on a bridge; it changes by our own writes and by the events of the flow monitor. */
import type { ActualBridge } from './plan.ts';
import type { BundleOp, SwitchClient } from './switch-client.ts';
import type { FlowState } from './text/flow.ts';

export interface MutableBridge extends ActualBridge {
  readonly flows: Map<string, FlowState>;
  readonly groups: Map<number, { readonly type: string; readonly buckets: Map<number, string> }>;
  readonly noFlood: Set<number>;
}

export const emptyBridge = (): MutableBridge => ({ flows: new Map(), groups: new Map(), noFlood: new Set() });

/** @throws OpenflowError ERR_OPENFLOW_UNREACHABLE */
export const readBridge = async (
  client: Pick<SwitchClient, 'flows' | 'groups' | 'ports'>,
  bridge: string,
  signal: AbortSignal,
): Promise<MutableBridge> => {
  const [flows, groups, ports] = await Promise.all([
    client.flows(bridge, signal),
    client.groups(bridge, signal),
    client.ports(bridge, signal),
  ]);
  return {
    flows,
    groups: new Map([...groups].map(([id, { type, buckets }]) => [id, { type, buckets: new Map(buckets) }])),
    noFlood: new Set(ports.filter(({ noFlood }) => noFlood).map(({ number }) => number)),
  };
};

/** What a bridge does with a step that it does not refuse. */
export const applyOp = (bridge: MutableBridge, op: BundleOp): void => {
  switch (op.op) {
    case 'addFlow':
      bridge.flows.set(op.flow.identity, { cookie: op.flow.cookie, actions: op.flow.actions });
      return;
    case 'deleteFlow':
      bridge.flows.delete(op.identity);
      return;
    default:
      applyGroupOp(bridge, op);
  }
};

/** Flows that name a deleted group go by themselves: the flow monitor reports it. */
export const applyGroupOp = (
  { groups }: Pick<MutableBridge, 'groups'>,
  op: Exclude<BundleOp, { readonly op: 'addFlow' | 'deleteFlow' }>,
): void => {
  switch (op.op) {
    case 'addGroup':
    case 'resetGroup':
      groups.set(op.group, { type: 'all', buckets: new Map() });
      return;
    case 'deleteGroup':
      groups.delete(op.group);
      return;
    case 'insertBucket':
      groups.get(op.group)?.buckets.set(op.bucket, op.actions);
      return;
    case 'removeBucket':
      groups.get(op.group)?.buckets.delete(op.bucket);
  }
};
