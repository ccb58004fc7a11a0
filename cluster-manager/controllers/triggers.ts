/**
 * What happens in the cluster → what has to be worked on. Every event is followed by what it touches and by nothing else:
 * there is no list of everything that would be walked now and then.
 */
import { matchesSelector } from '../../api/label-selector.ts';
import { hasClusterIpam } from '../../api/network.ts';
import { equalBut } from '../../kube/json-equal.ts';
import type { Change } from '../../kube/reflector/types.ts';
import { idsIn } from '../../net/id-ranges.ts';
import { ignoredByNetworks } from '../allocation/ignored-by-networks.ts';
import type { ClaimFacts } from '../facts/claim-facts.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { NamespaceFacts } from '../facts/namespace-facts.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import type { NodeFacts } from '../facts/node-facts.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { ReportFacts } from '../facts/report-facts.ts';
import type { SliceFacts } from '../facts/slice-facts.ts';
import type { Touched } from '../state/cluster-state.ts';
import type { AddressWaiters } from './address-waiters.ts';
import { reportConflicts } from './allocation-conflicts.ts';
import type { NadCreations } from './nad-creations.ts';
import { factsOf, networkKey } from './network-key.ts';
import { changedNads, saysNodesReady } from './network-usage.ts';
import type { NetworkViews } from './network-views.ts';
import { changedFailures, changedIds, isOnlyRenewed } from './node-reports.ts';
import type { PodUsers } from './pod-users.ts';
import type { ReportFreshness } from './report-freshness.ts';
import type { ControllerContext } from './types.ts';

interface TouchContext extends Pick<ControllerContext, 'caches' | 'state' | 'enqueue' | 'problems' | 'ids'> {
  readonly waiters: AddressWaiters;
}

export interface TriggerContext extends TouchContext, Pick<ControllerContext, 'waiting'> {
  readonly views: NetworkViews;
  readonly creations: NadCreations;
  readonly users: PodUsers;
  readonly freshness: Pick<ReportFreshness, 'follow'>;
}

/** Follows the caches, from what is in them now. @returns what ends it */
export const followCaches = (context: TriggerContext): (() => void) => {
  const { caches } = context;
  const ends = [
    followNodes(context),
    follow(caches.nads, { replay: (change) => replayNad(context, change), change: (change) => onNad(context, change) }),
    caches.udns.subscribe((change) => onNetwork(context, change)),
    caches.cudns.subscribe((change) => onNetwork(context, change)),
    // Before pods: what a claim has is noted before anything is given out.
    caches.claims.subscribe((change) => onClaim(context, change)),
    follow(caches.pods, { replay: (change) => replayPod(context, change), change: (change) => onPod(context, change) }),
    caches.reports.subscribe((change) => context.freshness.follow(change)),
    follow(caches.reports, { change: (change) => onReport(context, change) }),
    caches.slices.subscribe((change) => onSlice(context, change)),
    // Last: by now every network and every pod is queued, and the replay of namespaces has nothing to add.
    follow(caches.namespaces, { change: (change) => onNamespace(context, change) }),
  ];
  return () => {
    for (const end of ends) end();
  };
};

type Handler<Value> = (change: Change<Value>) => void;

/** @param replay for what is there from the start, which the state knows already */
const follow = <Value>(
  cache: { subscribe(handler: Handler<Value>): () => void },
  { replay = () => {}, change }: { readonly replay?: Handler<Value>; readonly change: Handler<Value> },
): (() => void) => {
  let handler = replay;
  const end = cache.subscribe((one) => handler(one));
  handler = change;
  return end;
};

/** A source or a mirror, by what it was and by what it is. */
const onSlice = ({ enqueue }: TriggerContext, { before, after }: Change<SliceFacts>): void => {
  if (before !== undefined && before.source !== after?.source) enqueue.slice(before.source);
  if (after !== undefined) enqueue.slice(after.source);
};

/**
 * It is noted once more only where something was found wrong with it, which may be right by now: what was recovered later has
 * a say in that. Its owners and its pods are queued with all networks and pods.
 */
const replayNad = (context: TriggerContext, change: Change<NadFacts>): void => {
  if (context.state.nadProblems.has(change.key)) onNad(context, change);
  else context.enqueue.nad(change.key);
};

/** Most have all that they need; how many there are is counted with each network. */
const replayPod = ({ caches, state, enqueue }: TriggerContext, { key, after }: Change<PodFacts>): void => {
  if (after === undefined || state.isComplete(after, caches.namespaces.get(after.namespace)?.labels)) return;
  enqueue.pod(key);
};

/** What there is from the start is counted with each network, not with each node. */
const followNodes = (context: TriggerContext): (() => void) => {
  let isReplay = true;
  const end = context.caches.nodes.subscribe((change) => {
    onNode(context, change);
    if (isReplay || partOf(change.before) === partOf(change.after)) return;
    enqueueUsageOfNodes(context);
    context.enqueue.silence(change.key);
  });
  isReplay = false;
  return end;
};

const onNetwork = (context: TriggerContext, { before, after }: Change<NetworkFacts>): void => {
  const { caches, enqueue } = context;
  const facts = after ?? before;
  if (facts === undefined) return;
  // What has left a namespace for nobody but the pods that are there may be back.
  if (before !== undefined && JSON.stringify(before.selector) !== JSON.stringify(facts.selector)) {
    for (const nad of caches.nads.byIndex('owner', facts.metadata.uid ?? '')) enqueuePodsOf(context, nad);
  }
  if (after !== undefined && before?.metadata.uid !== after.metadata.uid) reviewNads(context, after);
  enqueue.network(networkKey(facts));
  // Also when somebody else changes what its status says, or when nobody looked.
  enqueue.usage(networkKey(facts));
};

/** NADs with its name: whether they are its own was decided without it. */
const reviewNads = (context: TriggerContext, { kind, networkName, metadata }: NetworkFacts): void => {
  const { caches, state } = context;
  if (kind !== 'ClusterUserDefinedNetwork') return;
  for (const { key, isOwn, metadata: known } of state.registry.nadsOf(networkName)) {
    const nad = caches.nads.get(key);
    const isNamed = known.ownerReferences.some(({ uid }) => uid === metadata.uid);
    if (nad !== undefined && isOwn !== isNamed) touch(context, state.upsertNad(nad));
  }
};

const onNode = (context: TriggerContext, { key, before, after }: Change<NodeFacts>): void => {
  const { state } = context;
  if (before !== undefined && before.uid !== after?.uid) {
    touch(context, state.removeNode(key));
    context.ids.reported();
  }
  if (after !== undefined) touch(context, state.upsertNode(after));
};

const onNad = (context: TriggerContext, { key, before, after }: Change<NadFacts>): void => {
  const { caches, state, enqueue, views, creations } = context;
  views.seen(key);
  creations.seen(key);
  touch(context, after === undefined ? state.removeNad(key) : state.upsertNad(after));
  enqueue.nad(key);
  enqueueOwners(context, key, [before, after]);
  // A network without a NAD has nothing any more that could be counted; what came while a NAD was nobody's is counted now.
  const [were, are] = [before, after].map((nad) => ownersOf(caches, nad));
  if (were?.join() !== are?.join()) for (const owner of [...(were ?? []), ...(are ?? [])]) enqueue.usage(owner);
  if (before?.config === after?.config) return;
  const namespace = key.split('/')[0] ?? '';
  // Its primary network may be another one.
  for (const slice of caches.slices.keysByIndex('namespace', namespace)) enqueue.slice(slice);
  // Its place may be free now for the primary network that was refused because of it.
  for (const failed of views.failedIn(namespace)) enqueue.network(failed);
  // The networks beside it name a second primary one.
  if ([before, after].some((nad) => nad?.isPrimary)) {
    for (const nad of caches.nads.byIndex('namespace', namespace)) enqueueOwners(context, nad.key, [nad]);
  }
  enqueuePodsOf(context, after);
};

/** Those that a network is for whose addresses are ours to give. */
const enqueuePodsOf = (
  { caches, enqueue }: Pick<TriggerContext, 'caches' | 'enqueue'>,
  nad: NadFacts | undefined,
): void => {
  if (nad?.conf === undefined) return;
  if (!hasClusterIpam(nad.conf)) {
    // They hear that it does not honour what they ask for.
    if (nad.conf.role !== 'primary') {
      for (const pod of caches.pods.keysByIndex('selectedNad', nad.key)) enqueue.pod(pod);
      return;
    }
    const pods = caches.pods.byIndex('namespace', nad.metadata.namespace);
    for (const { key, annotations } of pods) if (annotations.defaultNetwork !== undefined) enqueue.pod(key);
    return;
  }
  // First who has something of it.
  for (const pod of caches.pods.keysByIndex('usedNad', nad.key)) enqueue.pod(pod);
  const isPrimary = nad.conf.role === 'primary';
  const wanting = isPrimary
    ? caches.pods.keysByIndex('namespace', nad.metadata.namespace)
    : caches.pods.keysByIndex('selectedNad', nad.key);
  for (const pod of wanting) enqueue.pod(pod);
};

/** Who rendered it, and who could not because something of that name was there. */
const enqueueOwners = (
  { caches, enqueue }: TriggerContext,
  key: string,
  versions: readonly (NadFacts | undefined)[],
): void => {
  const name = key.split('/')[1] ?? '';
  const keys = new Set<string>();
  if (caches.udns.has(key)) keys.add(`UserDefinedNetwork/${key}`);
  if (caches.cudns.has(name)) keys.add(`ClusterUserDefinedNetwork/${name}`);
  for (const { kind, name: owner } of versions.flatMap((nad) => nad?.metadata.ownerReferences ?? [])) {
    if (kind === 'ClusterUserDefinedNetwork') keys.add(`${kind}/${owner}`);
  }
  for (const network of keys) enqueue.network(network);
};

const onNamespace = (context: TriggerContext, { key, before, after }: Change<NamespaceFacts>): void => {
  const { caches, enqueue } = context;
  for (const udn of caches.udns.keysByIndex('namespace', key)) enqueue.network(`UserDefinedNetwork/${udn}`);
  for (const [name, { selector }] of caches.cudns.entries()) {
    const isSelected = [before, after].some(
      (namespace) => namespace !== undefined && selector !== undefined && matchesSelector(selector, namespace.labels),
    );
    if (isSelected) enqueue.network(`ClusterUserDefinedNetwork/${name}`);
  }
  for (const nad of caches.nads.byIndex('namespace', key)) enqueuePodsOf(context, nad);
  for (const pod of caches.pods.keysByIndex('namespace', key)) enqueue.pod(pod);
  for (const slice of caches.slices.keysByIndex('namespace', key)) enqueue.slice(slice);
};

const onPod = (context: TriggerContext, change: Change<PodFacts>): void => {
  const { caches, state, enqueue, users, waiters } = context;
  const { key, before, after } = change;
  users.follow(change);
  for (const slice of caches.slices.keysByIndex('pod', key)) enqueue.slice(slice);
  enqueueUsage(context, changedNads(before, after));
  const isGone = after === undefined || !after.isActive || (before !== undefined && before.uid !== after.uid);
  if (isGone && before !== undefined) {
    waiters.set(key, []);
    context.waiting.set(key, undefined);
    touch(context, state.releasePod(key));
  }
  if (after === undefined || !after.isActive) return;
  // Most pods have nothing of a layer-2 network: they are not even queued.
  const labels = caches.namespaces.get(after.namespace)?.labels;
  const { layer2, problems } = state.attachmentsOf(after, labels);
  const isSaid = problems.length > 0 || ignoredByNetworks(after, labels, state.registry).length > 0;
  if (layer2.length > 0 || isSaid || state.hasLayer2(after)) enqueue.pod(key);
};

const onClaim = (context: TriggerContext, { key, before, after }: Change<ClaimFacts>): void => {
  const { caches, state, enqueue } = context;
  if (before !== undefined && before.uid !== after?.uid) touch(context, state.removeClaim(key));
  if (after !== undefined) state.upsertClaim(after);
  enqueue.claim(key);
  // Pods wait for it to be there, and to be right; what is said of them in its status is nothing new to them.
  if (sameForPods(before, after)) return;
  for (const pod of caches.pods.keysByIndex('claim', key)) enqueue.pod(pod);
};

/** Whatever a claim says counts, but for what is written on it when a pod has got something of it. */
const sameForPods = (before: ClaimFacts | undefined, after: ClaimFacts | undefined): boolean =>
  before === undefined || after === undefined ? before === after : sameClaim(forPods(before), forPods(after));

const sameClaim = equalBut<ReturnType<typeof forPods>>('finalizers', 'generation', 'creationTimestamp');

const forPods = ({ claim, error, ...facts }: ClaimFacts) => ({
  ...facts,
  message: error?.message,
  claim: claim && { ...claim, ownerPod: undefined, conditions: undefined },
});

/** Has everything worked on that was touched. */
export const touch = (context: TouchContext, touched: Touched): void => {
  const { caches, enqueue, problems, state, waiters } = context;
  context.ids.look();
  reportConflicts(problems, touched.conflicts);
  for (const node of touched.nodes) enqueue.node(node);
  for (const nad of touched.nads) enqueue.nad(nad);
  for (const claim of touched.claims) enqueue.claim(claim);
  for (const network of touched.networks) {
    for (const key of sourcesOf(context, network)) {
      enqueue.network(key);
      enqueue.usage(key);
    }
    // Nothing else says how those are that nothing was rendered from.
    for (const { key, isOwn } of state.registry.nadsOf(network)) if (!isOwn) enqueue.nad(key);
  }
  for (const nad of touched.admitted) enqueuePodsOf(context, caches.nads.get(nad));
  for (const network of touched.freed) {
    for (const pod of waiters.take(network)) enqueue.pod(pod);
    // No pod goes with what a claim gives back.
    for (const key of sourcesOf(context, network)) enqueue.usage(key);
  }
};

/** With every pod: it looks at the NADs of the pod, and not at all of their networks. */
const enqueueUsage = ({ caches, enqueue }: TriggerContext, nads: readonly string[]): void => {
  for (const nad of nads) for (const key of ownersOf(caches, caches.nads.get(nad))) enqueue.usage(key);
};

/** What of a node changes how many nodes a network counts. */
const partOf = (node: NodeFacts | undefined): string | undefined => node && `${node.uid} ${node.isExcluded}`;

/** Each node has a part of every layer-3 network; where nodes report, all of them are counted for every network. */
const enqueueUsageOfNodes = (context: TriggerContext): void => {
  const { caches, state } = context;
  for (const { name, network } of state.registry.networks()) {
    if (network.topology === 'layer3' || caches.reports.size > 0) enqueueUsageOf(context, name);
  }
};

const enqueueUsageOf = (context: Pick<TriggerContext, 'state' | 'caches' | 'enqueue'>, network: string): void => {
  for (const key of sourcesOf(context, network)) {
    context.enqueue.usage(key);
    const facts = factsOf(context.caches, key);
    if (facts !== undefined && !saysNodesReady(facts)) context.enqueue.readiness(key);
  }
};

/** The report of a node has become stale, or counts again: so it is with all networks that the node has. */
export const onFreshness = (context: Pick<TriggerContext, 'state' | 'caches' | 'enqueue'>, node: string): void => {
  const { registry } = context.state;
  const report = context.caches.reports.get(node);
  if (report === undefined) return;
  context.enqueue.silence(node);
  const ids = [report.ready, report.pending, report.failed].flatMap((ranges) => [...idsIn(ranges)]);
  const networks = report.hasAll
    ? [...registry.networks()].map(({ name }) => name)
    : ids.map((id) => registry.holderOf(id));
  for (const network of networks) if (network !== undefined) enqueueUsageOf(context, network);
};

/** What it says of networks again; a report that comes or goes says something of all. */
const onReport = (context: TriggerContext, { before, after }: Change<ReportFacts>): void => {
  const { state, ids } = context;
  if (before !== undefined && after !== undefined && isOnlyRenewed(before, after)) return;
  ids.reported();
  if (before?.hasAll !== after?.hasAll) {
    for (const { name } of state.registry.networks()) enqueueUsageOf(context, name);
    return;
  }
  for (const changed of changedIds(before, after)) {
    for (const id of idsIn(changed)) {
      const network = state.registry.holderOf(id);
      if (network !== undefined) enqueueUsageOf(context, network);
    }
  }
  for (const network of changedFailures(before, after)) enqueueUsageOf(context, network);
  if (before?.observed === after?.observed) return;
  for (const network of youngerThan(context, before?.observed ?? '')) enqueueUsageOf(context, network);
};

/** Networks that a report did not mean before, whatever it said of their ids. Asked only when a node has a new network. */
const youngerThan = ({ state: { registry } }: TriggerContext, observed: string): string[] =>
  [...registry.networks()].flatMap(({ name }) => (registry.createdAt(name) > observed ? [name] : []));

/** The objects that a network's NADs were rendered from. */
const sourcesOf = ({ state, caches }: Pick<TriggerContext, 'state' | 'caches'>, network: string): Set<string> =>
  new Set(state.registry.nadsOf(network).flatMap((nad) => ownersOf(caches, nad)));

const ownersOf = (
  { udns, cudns }: Pick<TriggerContext['caches'], 'udns' | 'cudns'>,
  nad: Pick<NadFacts, 'metadata'> | undefined,
): readonly string[] =>
  (nad?.metadata.ownerReferences ?? []).flatMap(({ kind, name }) => {
    const isUdn = kind === 'UserDefinedNetwork';
    const key = isUdn ? `${nad?.metadata.namespace}/${name}` : name;
    return (isUdn ? udns : cudns).has(key) ? [`${kind}/${key}`] : [];
  });
