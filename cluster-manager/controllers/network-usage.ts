/**
 * How full a network is, and how many nodes have it, in its status. It changes with every pod and with what every node
 * reports, and an object that is written with each of them is read with each of them. So it is written at most once in 15 to
 * 30 s per network, whatever happens meanwhile; with more than 300 networks the time grows with them, so that all together
 * are written at most 20 times a second.
 */
import { MAX_NAMED } from '../../api/network-status.ts';
import type { NadRecord, NetworkRecord } from '../allocation/network-registry.ts';
import type { SubnetUsage } from '../allocation/port.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import { usedNads } from '../facts/pod-facts.ts';
import { nodesCondition } from './network-conditions.ts';
import { factsOf } from './network-key.ts';
import { type StatusPart, USAGE_MANAGER, writeStatus } from './network-status.ts';
import { type NodeTally, nodeFields, tallyNodes } from './node-reports.ts';
import type { ReportFreshness } from './report-freshness.ts';
import type { ControllerContext, Reconcile } from './types.ts';

const INTERVAL_MS = 30_000;
const INTERVAL_PER_NETWORK_MS = 100;

/** How long after a change it is written. @param random so that not all networks are at the same time */
export const usageDelayMs = (networks: number, random: () => number): number =>
  Math.max(INTERVAL_MS, networks * INTERVAL_PER_NETWORK_MS) * (0.5 + random() / 2);

interface UsageContext extends ControllerContext {
  readonly freshness: Pick<ReportFreshness, 'isStale'>;
}

/**
 * Writes at once that all nodes have the network, which users wait for. That they have it no more waits for the usual turn: a
 * network that flaps is written as seldom as any other.
 */
export const readinessReconciler =
  (context: UsageContext): Reconcile =>
  (key) => {
    const facts = factsOf(context.caches, key);
    const record = facts === undefined ? undefined : context.state.registry.get(facts.networkName);
    if (facts === undefined || record === undefined || saysNodesReady(facts)) return Promise.resolve();
    if (nodesCondition(tallyOf(context, record)).status === 'True') context.enqueue.usageNow(key);
    return Promise.resolve();
  };

export const saysNodesReady = ({ conditions }: NetworkFacts): boolean =>
  conditions.some(({ type, status }) => type === 'NodesReady' && status === 'True');

/** The more networks wait for it, the later each is looked at: all together 20 times a second at most. */
export const readinessDelayMs = (waiting: number, random: () => number): number =>
  Math.max(READINESS_MS, waiting * INTERVAL_PER_NETWORK_MS) * (0.5 + random() / 2);

const READINESS_MS = 1_000;

export const usageReconciler =
  (context: UsageContext): Reconcile =>
  async (key, signal) => {
    const facts = factsOf(context.caches, key);
    if (facts === undefined || facts.metadata.deletionTimestamp != null) return;
    const record = context.state.registry.get(facts.networkName);
    const part = record === undefined ? {} : usageOf(context, record);
    await writeStatus(context, facts, USAGE_MANAGER, part, signal);
  };

/** The NADs that a pod uses after a change and did not before, or the other way round. */
export const changedNads = (before: PodFacts | undefined, after: PodFacts | undefined): readonly string[] => {
  const nadsOf = (pod: PodFacts | undefined) => new Set(pod === undefined ? [] : usedNads(pod));
  return [...nadsOf(before).symmetricDifference(nadsOf(after))];
};

const usageOf = (context: UsageContext, record: NetworkRecord): StatusPart => {
  const { caches, state } = context;
  const { name, network } = record;
  // What a pod of another namespace says of a network that is not for it, does not count.
  const isOn = (nad: NadRecord, pod: string) => state.registry.isFor(nad, pod.split('/')[0] ?? '');
  const pods = state.registry
    .nadsOf(name)
    .reduce((sum, nad) => sum + caches.pods.keysByIndex('usedNad', nad.key).filter((pod) => isOn(nad, pod)).length, 0);
  const isLayer3 = network.topology === 'layer3';
  const usage = isLayer3 ? state.nodes.usageOf(name) : state.pods.usageOf(name);
  const unit = isLayer3 ? 'NodeSubnets' : 'Addresses';
  const tally = tallyOf(context, record);
  return {
    conditions: [nodesCondition(tally)],
    fields: {
      pods,
      ...(usage.length > 0 && { usage: usage.map((one) => ({ unit, ...toNumbers(one) })) }),
      nodes: { ...nodeFields(tally), ...(isLayer3 && subnetsOfNodes(name, state)) },
    },
  };
};

const tallyOf = ({ caches, state, freshness }: UsageContext, { name, keys }: NetworkRecord): NodeTally =>
  tallyNodes(
    {
      nodes: [...caches.nodes.values()].filter(({ isExcluded }) => !isExcluded).map(({ name: node }) => node),
      report: (node) => caches.reports.get(node),
      isStale: freshness.isStale,
    },
    { name, id: keys.id, createdAt: state.registry.createdAt(name) },
  );

const toNumbers = ({ subnet, used, free }: SubnetUsage) => ({
  subnet,
  used,
  ...(free <= BigInt(Number.MAX_SAFE_INTEGER) && { free: Number(free) }),
});

const subnetsOfNodes = (name: string, { nodes }: ControllerContext['state']) => {
  const failures = [...nodes.failures(name)].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    allocated: nodes.countOf(name),
    failed: failures.length,
    ...(failures.length > 0 && {
      failures: failures.slice(0, MAX_NAMED).map(([node, message]) => ({ node, message: message.slice(0, 1024) })),
    }),
  };
};
