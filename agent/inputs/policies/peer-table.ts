/**
 * Which pods are in which peer sets, and the facts about it. A selection is looked at only while something needs it.
 * Over 300 lines: each method is about the same sets and their members, who come by events of pods, of namespaces and of rules.
 */
import { isDeepStrictEqual } from 'node:util';
import { DenseMap } from '../../../base/dense-map.ts';
import { fewOf, hasFew, manyAsFew, withFew, withoutFew } from '../../../base/few.ts';
import { WeakPool } from '../../../base/weak-pool.ts';
import type { Family, Ip } from '../../../net/ip.ts';
import type { FactWriter } from '../../model/fact-store.ts';
import type { PolicyPeerFact } from '../../model/policies/facts.ts';
import { PeerOfSets } from '../../model/policies/peer-of-sets.ts';
import { isSelected } from './canonical-selector.ts';
import { numberOf, type PeerSetSpec } from './compile.ts';
import { count, type NameWatch, usedNumbers } from './name-watch.ts';
import { keyOfPod } from './namespace-pods.ts';
import { NamespaceScopes } from './namespace-scopes.ts';
import { PeerFiling } from './peer-filing.ts';
import type { Placement } from './placement.ts';
import type { Selecting } from './postings.ts';
import { SetUses } from './set-uses.ts';
import type { PodState } from './state.ts';
import { MAX_NUMBERS, type PortName, portNameText, type Selection } from './templates.ts';
import type { PolicyNamespace, PolicyPod } from './types.ts';

interface LiveSet {
  readonly spec: PeerSetSpec;
  readonly uses: SetUses;
}

/** Pods of a selection on one network. */
export interface LivePeers extends Selecting {
  readonly network: string;
  readonly selection: Selection;
  /** By key. */
  readonly members: DenseMap<PodState>;
  /** Above so many it is said that there are more. */
  enough: number;
  /** By id; without ports, and one for each number of a named port. */
  readonly sets: Map<string, LiveSet>;
  /** By name and protocol. */
  readonly names: Map<string, NameWatch>;
}

interface NetworkPeers {
  readonly filing: PeerFiling<LivePeers>;
  readonly live: Map<string, LivePeers>;
}

type Pods = Pick<DenseMap<PodState>, 'size' | 'values'>;

interface PeerTableOptions {
  readonly facts: FactWriter;
  readonly namespaces: ReadonlyMap<string, PolicyNamespace>;
  readonly podsOf: (namespace: string) => Pods | undefined;
  readonly placementOf: (namespace: string) => Placement | undefined;
  /** A selection has many more members than when it was last said. */
  readonly onGrown: (selection: Selection) => void;
}

export class PeerTable {
  readonly #options: PeerTableOptions;
  readonly #networks = new Map<string, NetworkPeers>();
  readonly #scopes: NamespaceScopes;
  /** Their facts are written by `flush`: one event can change many sets of a pod. */
  readonly #changed = new Set<PodState>();
  /** Most pods are in the same sets as others. */
  readonly #ids = new WeakPool<readonly string[]>(isDeepStrictEqual);

  constructor(options: PeerTableOptions) {
    this.#options = options;
    this.#scopes = new NamespaceScopes(options.namespaces);
  }

  /** A rule of this family names this set. */
  acquire(spec: PeerSetSpec, family: Family): void {
    const live = this.#ensure(spec.network, spec.selection);
    const set = live.sets.get(spec.id) ?? { spec, uses: new SetUses() };
    live.sets.set(spec.id, set);
    if (set.uses.add(family)) this.#publish(live, set);
  }

  release({ id, network, selection }: PeerSetSpec, family: Family): void {
    const live = this.#networks.get(network)?.live.get(selection.text);
    const known = live?.sets.get(id);
    if (live === undefined || known === undefined || !known.uses.remove(family)) return;
    if (known.uses.families.length === 0) live.sets.delete(id);
    this.#publish(live, known);
    this.#dropIfUnused(live);
  }

  #publish(live: LivePeers, { spec: { id, network, selects }, uses: { families } }: LiveSet): void {
    this.#options.facts.set('peerSet', id, families.length === 0 ? undefined : { network, families, selects });
    this.#markMembers(live);
  }

  /** Numbers that peers have for a named port, as many as may count. @param onChange they are others now */
  watch(network: string, selection: Selection, port: PortName, onChange: () => void): readonly number[] {
    const live = this.#ensure(network, selection);
    const name = portNameText(port);
    let watch = live.names.get(name);
    if (watch === undefined) {
      watch = { port, counts: new Map(), used: [], isMore: false, readers: new Map() };
      live.names.set(name, watch);
      for (const { pod } of live.members.values()) count(watch, pod, 1);
      watch.used = usedNumbers(watch);
      watch.isMore = watch.counts.size > MAX_NUMBERS;
    }
    watch.readers.set(onChange, (watch.readers.get(onChange) ?? 0) + 1);
    return watch.used;
  }

  unwatch(network: string, selection: Selection, port: PortName, onChange: () => void): void {
    const live = this.#networks.get(network)?.live.get(selection.text);
    const watch = live?.names.get(portNameText(port));
    if (live === undefined || watch === undefined) return;
    const uses = watch.readers.get(onChange) ?? 0;
    if (uses > 1) watch.readers.set(onChange, uses - 1);
    else watch.readers.delete(onChange);
    if (watch.readers.size > 0) return;
    live.names.delete(portNameText(port));
    this.#dropIfUnused(live);
  }

  /** A pod came, changed, went, or is on other networks now. @param before as it was counted, if it was */
  move(state: PodState, before: PolicyPod | undefined, after: PolicyPod | undefined): void {
    const next = new Set(after === undefined ? [] : this.#peersWith(after));
    const { peerOf } = state;
    for (const live of fewOf(peerOf)) if (!next.has(live)) this.#leave(live, state, before);
    for (const live of next) {
      const isKnown = hasFew(peerOf, live);
      live.members.set(state.key, state);
      this.#checkSize(live);
      if (!isKnown || before?.ports !== after?.ports) this.#recount(live, isKnown ? before : undefined, after);
    }
    state.peerOf = manyAsFew([...next]);
    if (peerOf !== undefined || next.size > 0) this.#changed.add(state);
  }

  /** A pod is gone, whatever could not be worked out of it. @param counted as it was counted, if it was */
  forget(state: PodState, counted: PolicyPod | undefined): void {
    for (const live of fewOf(state.peerOf)) this.#leave(live, state, counted);
    state.peerOf = undefined;
    this.#changed.delete(state);
    this.#options.facts.set('policyPeer', state.key, undefined);
  }

  #leave(live: LivePeers, state: PodState, counted: PolicyPod | undefined): void {
    live.members.delete(state.key);
    this.#recount(live, counted, undefined);
  }

  /** @returns whether its pods are peers of others now, and have to be moved */
  changeNamespace(name: string): boolean {
    return this.#scopes.change(name);
  }

  /** How many numbers the peers have for a port that is watched. */
  numbersOf(network: string, selection: Selection, port: PortName): number {
    return this.#networks.get(network)?.live.get(selection.text)?.names.get(portNameText(port))?.counts.size ?? 0;
  }

  /** How many pods a selection has, or would have; it counts no further than the limit. */
  membersOf(network: string, selection: Selection, limit: number): number {
    const live = this.#networks.get(network)?.live.get(selection.text);
    if (live !== undefined) return live.members.size;
    let found = 0;
    for (const namespace of this.#namespacesOf(selection))
      for (const { pod } of this.#podsOn(network, namespace)?.values() ?? []) {
        if (this.#isMember(network, selection, pod)) found += 1;
        if (found > limit) return found;
      }
    return found;
  }

  /** As many pods a selection has at most: what can be said without a look at each of them. */
  mostMembersOf(network: string, selection: Selection): number {
    let most = 0;
    for (const namespace of this.#namespacesOf(selection)) most += this.#podsOn(network, namespace)?.size ?? 0;
    return most;
  }

  #namespacesOf({ scope }: Selection): Iterable<string> {
    if ('namespace' in scope) return [scope.namespace];
    const all = this.#options.namespaces.values();
    return (
      this.#scopes.namespacesOf(scope.namespaces) ??
      all.filter(({ labels }) => isSelected(scope.namespaces, labels)).map(({ name }) => name)
    );
  }

  /** Of a namespace without pods on the network none: most are elsewhere. */
  #podsOn(network: string, namespace: string): Pods | undefined {
    const isThere = this.#options.placementOf(namespace)?.mayBeOn(network) === true;
    return isThere ? this.#options.podsOf(namespace) : undefined;
  }

  #isMember(network: string, { selector, hosts }: Selection, pod: PolicyPod): boolean {
    if (pod.isHost === true && !hosts) return false;
    return !pod.finished && isSelected(selector, pod.labels) && this.#isOn(network, pod);
  }

  /** How many pods are in a set. */
  sizeOf({ network, selection, port }: PeerSetSpec): number {
    const members = this.#networks.get(network)?.live.get(selection.text)?.members.values();
    return [...(members ?? [])].filter(({ pod }) => hasPort(pod, port)).length;
  }

  flush(): void {
    for (const state of this.#changed) this.#options.facts.set('policyPeer', state.key, this.#factOf(state));
    this.#changed.clear();
  }

  #factOf({ pod, peerOf }: PodState): PolicyPeerFact | undefined {
    const found: [id: string, ips: readonly Ip[]][] = [];
    const placement = this.#options.placementOf(pod.namespace);
    const byNetwork = new Map<string, readonly Ip[]>();
    for (const { network, sets } of fewOf(peerOf)) {
      if (sets.size === 0) continue;
      const ips = byNetwork.get(network) ?? placement?.addressesOn(network, pod) ?? [];
      byNetwork.set(network, ips);
      for (const [id, { spec, uses }] of sets) {
        const own = uses.ofFamilies(ips);
        if (own.length > 0 && hasPort(pod, spec.port)) found.push([id, own]);
      }
    }
    const [first] = found;
    if (first === undefined) return undefined;
    const [, ips] = first;
    if (found.some(([, others]) => !isSame(others, ips))) return { sets: new Map(found) };
    const ids = found.map(([id]) => id).sort();
    return new PeerOfSets(this.#ids.one(ids, ids.join()), ips);
  }

  #peersWith(pod: PolicyPod): LivePeers[] {
    if (pod.finished || (pod.addresses.size === 0 && pod.isHost !== true) || this.#networks.size === 0) return [];
    const placement = this.#options.placementOf(pod.namespace);
    return (placement?.networksOf(pod) ?? []).flatMap((network) => {
      const all = this.#networks.get(network)?.filing.matching(pod.namespace, pod.labels) ?? [];
      const found = pod.isHost === true ? all.filter(({ selection }) => selection.hosts) : all;
      return found.length > 0 && this.#isOn(network, pod) ? found : [];
    });
  }

  #isOn(network: string, pod: PolicyPod): boolean {
    return (this.#options.placementOf(pod.namespace)?.addressesOn(network, pod) ?? []).length > 0;
  }

  #ensure(network: string, selection: Selection): LivePeers {
    const peers = this.#networks.get(network) ?? { filing: new PeerFiling(this.#scopes), live: new Map() };
    this.#networks.set(network, peers);
    const known = peers.live.get(selection.text);
    if (known !== undefined) return known;
    const { selector } = selection;
    const live: LivePeers = {
      ...{
        network,
        selection,
        selector,
        members: new DenseMap(keyOfPod),
        enough: ENOUGH,
        sets: new Map(),
        names: new Map(),
      },
    };
    peers.live.set(selection.text, live);
    try {
      for (const namespace of peers.filing.add(live))
        for (const state of this.#podsOn(network, namespace)?.values() ?? []) this.#join(live, state);
    } catch (error) {
      // Half of a set is none: who needs it next finds all of its pods.
      this.#dropIfUnused(live);
      throw error;
    }
    this.#checkSize(live);
    return live;
  }

  #join(live: LivePeers, state: PodState): void {
    if (!this.#isMember(live.network, live.selection, state.pod)) return;
    live.members.set(state.key, state);
    state.peerOf = withFew(state.peerOf, live);
  }

  /** Each time at twice as many, so that what follows costs little for each pod. */
  #checkSize(live: LivePeers): void {
    if (live.members.size <= live.enough) return;
    live.enough = 2 * live.members.size;
    this.#options.onGrown(live.selection);
  }

  #dropIfUnused(live: LivePeers): void {
    if (live.sets.size > 0 || live.names.size > 0) return;
    const peers = this.#networks.get(live.network);
    peers?.live.delete(live.selection.text);
    peers?.filing.delete(live);
    if (peers?.live.size === 0) this.#networks.delete(live.network);
    for (const state of live.members.values()) {
      state.peerOf = withoutFew(state.peerOf, live);
      this.#changed.add(state);
    }
  }

  #markMembers({ members }: LivePeers): void {
    for (const state of members.values()) this.#changed.add(state);
  }

  #recount(live: LivePeers, before: PolicyPod | undefined, after: PolicyPod | undefined): void {
    for (const watch of live.names.values()) {
      const isLess = before !== undefined && count(watch, before, -1);
      const isMore = after !== undefined && count(watch, after, 1);
      if (!isLess && !isMore) continue;
      const used = usedNumbers(watch);
      const wasMore = watch.isMore;
      watch.isMore = watch.counts.size > MAX_NUMBERS;
      if (watch.isMore === wasMore && isDeepStrictEqual(used, watch.used)) continue;
      watch.used = used;
      for (const onChange of [...watch.readers.keys()]) onChange();
    }
  }
}

const ENOUGH = 1024;

const isSame = (a: readonly Ip[], b: readonly Ip[]): boolean =>
  a === b || (a.length === b.length && a.every((ip, index) => ip === b[index]));

const hasPort = (pod: PolicyPod, port: PeerSetSpec['port']): boolean =>
  port === undefined || numberOf(port, pod.ports) === port.port;
