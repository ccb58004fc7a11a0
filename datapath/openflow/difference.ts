/** The difference between the desired state of bridges and what is there, in ovs-ofctl's words. */
import type { Difference } from '../../base/reconciler.ts';
import { type MutableBridge, readBridge } from './mirror.ts';
import { ownership } from './ownership.ts';
import { isSameFlow } from './plan.ts';
import type { PortNumbers } from './port-numbers.ts';
import type { SwitchClient } from './switch-client.ts';
import { type FlowState, formatFlow } from './text/flow.ts';
import { type BridgeItem, bridgeItemKey } from './types.ts';
import { Wants } from './wants.ts';

export interface DifferenceOptions {
  readonly client: Pick<SwitchClient, 'flows' | 'groups' | 'ports'>;
  readonly ports: Pick<PortNumbers, 'hasBridge' | 'ofport'>;
  readonly cookies: readonly bigint[];
  readonly isOurGroup?: ((group: number) => boolean) | undefined;
}

/** Sorted by key. What waits for a port or a bridge is missing. @throws OpenflowError ERR_OPENFLOW_UNREACHABLE */
export const bridgeDifferences = async (
  options: DifferenceOptions,
  desired: ReadonlyMap<string, BridgeItem>,
  signal: AbortSignal,
): Promise<Difference[]> => {
  const wants = new Wants(options.ports);
  for (const [key, item] of desired) wants.set(key, item, new Map());
  const found: Difference[] = [];
  for (const [key, { reason }] of wants.problems) found.push({ key, kind: 'missing', desired: reason });
  for (const bridge of wants.bridges) {
    if (!options.ports.hasBridge(bridge)) continue;
    const actual = await readBridge(options.client, bridge, signal);
    // One by one: the arguments of a call have a limit, and a bridge that was made anew lacks all of its flows.
    for (const one of flowDifferences(wants, bridge, actual, options.cookies)) found.push(one);
    for (const one of groupDifferences(wants, bridge, actual, options)) found.push(one);
    for (const one of portDifferences(wants, bridge, actual)) found.push(one);
  }
  return found.sort((a, b) => (a.key < b.key ? -1 : 1));
};

function* flowDifferences(
  wants: Wants,
  bridge: string,
  actual: MutableBridge,
  cookies: readonly bigint[],
): Generator<Difference> {
  const desired = wants.desired(bridge).flows;
  const { isOurs } = ownership(cookies);
  const line = (identity: string, state: FlowState): string => formatFlow({ identity, ...state });
  for (const [identity, state] of desired) {
    const there = actual.flows.get(identity);
    if (isSameFlow(state, there)) continue;
    const key = wants.keyOfFlow(bridge, identity) ?? identity;
    if (there === undefined) yield { key, kind: 'missing', desired: line(identity, state) };
    else yield { key, kind: 'different', desired: line(identity, state), actual: line(identity, there) };
  }
  for (const [identity, state] of actual.flows) {
    if (desired.has(identity) || !isOurs(state.cookie)) continue;
    yield { key: `flow ${bridge} ${identity}`, kind: 'unwanted', actual: line(identity, state) };
  }
}

function* groupDifferences(
  wants: Wants,
  bridge: string,
  actual: MutableBridge,
  { isOurGroup = () => false }: Pick<DifferenceOptions, 'isOurGroup'>,
): Generator<Difference> {
  const { groups } = wants.desired(bridge);
  for (const [id, buckets] of groups) {
    const there = actual.groups.get(id);
    const key = bridgeItemKey({ bridge, kind: 'group', group: { id } });
    const desired = `group_id=${id},type=all`;
    if (there === undefined) yield { key, kind: 'missing', desired };
    else if (there.type !== 'all')
      yield { key, kind: 'different', desired, actual: `group_id=${id},type=${there.type}` };
    yield* bucketDifferences(bridge, id, buckets, there?.buckets ?? new Map());
  }
  for (const [id, { type }] of actual.groups) {
    if (groups.has(id) || !isOurGroup(id)) continue;
    const key = bridgeItemKey({ bridge, kind: 'group', group: { id } });
    yield { key, kind: 'unwanted', actual: `group_id=${id},type=${type}` };
  }
}

function* bucketDifferences(
  bridge: string,
  group: number,
  desired: ReadonlyMap<number, string>,
  actual: ReadonlyMap<number, string>,
): Generator<Difference> {
  const keyOf = (id: number): string => bridgeItemKey({ bridge, kind: 'bucket', bucket: { group, id, actions: [] } });
  const line = (id: number, actions: string): string => `group_id=${group},bucket_id=${id},actions=${actions}`;
  for (const [id, actions] of desired) {
    const there = actual.get(id);
    if (there === actions) continue;
    if (there === undefined) yield { key: keyOf(id), kind: 'missing', desired: line(id, actions) };
    else yield { key: keyOf(id), kind: 'different', desired: line(id, actions), actual: line(id, there) };
  }
  for (const [id, actions] of actual) {
    if (!desired.has(id)) yield { key: keyOf(id), kind: 'unwanted', actual: line(id, actions) };
  }
}

function* portDifferences(wants: Wants, bridge: string, actual: MutableBridge): Generator<Difference> {
  for (const port of wants.desired(bridge).noFlood) {
    if (actual.noFlood.has(port)) continue;
    const key = wants.keyOfPort(bridge, port) ?? String(port);
    yield { key, kind: 'different', desired: `port ${port} no-flood`, actual: `port ${port} flood` };
  }
}
