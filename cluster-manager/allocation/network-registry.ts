/**
 * The user-defined networks of the cluster: what their NADs say, and the ids and tunnel keys that they hold. A network is
 * known by its name; the NADs of all its namespaces are the same network. No I/O and no clock.
 */
import { mayAttach } from '../../api/attachment-scope.ts';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { describeFinding } from '../../api/errors.ts';
import type { Labels } from '../../api/label-selector.ts';
import { isNamedByOwner, takesName } from '../../api/nad-owner.ts';
import { type NetConf, sameNetwork } from '../../api/net-conf.ts';
import { type Network, networkOfNetConf } from '../../api/network.ts';
import type { NetworkKeys } from '../../api/network-attachment-definition.ts';
import { type PrimaryNetwork, primaryNetworkOf } from '../../api/primary-network.ts';
import { messageOf } from '../../base/error-message.ts';
import { MultiMap } from '../../base/multi-map.ts';
import { jsonEqual } from '../../kube/json-equal.ts';
import { controllerUid, type NadFacts } from '../facts/nad-facts.ts';
import { networkOrNone, refusalOf } from './check-conf.ts';
import type { IdRecord } from './id-record.ts';
import { idSupply } from './id-shortage.ts';
import { KeyLedger } from './key-ledger.ts';
import { scopedNad } from './nad-scope.ts';
import { about, belongs, faultsOf, noId, noMatch } from './network-messages.ts';
import { isReserved, NetworkNads } from './network-nads.ts';
import type { NadRecord, NadResult, NetworkChange, NetworkRecord } from './network-records.ts';
import { NetworkReservations } from './network-reservations.ts';
import {
  type HeldFamilies,
  MOST_NETWORKS,
  type NetworkLimits,
  NetworkRoom,
  needsOf,
  ONE_MOMENT,
  partOf,
} from './network-room.ts';
import { rivalry } from './primary-rivals.ts';
import { RowNames } from './row-names.ts';
import { Wires } from './wires.ts';

export type { NadRecord, NadResult, NetworkChange, NetworkRecord };

export class NetworkRegistry {
  readonly #cluster: ClusterConfig;
  readonly #room: NetworkRoom;
  readonly #keys: KeyLedger;
  readonly #nads = new Map<string, NadRecord>();
  readonly #byNetwork = new NetworkNads();
  readonly #byNamespace = new MultiMap<string>();
  /** Names that NADs hold an id for although their configuration can't be read. */
  readonly #unreadable = new Map<string, string>();
  readonly #networks = new Map<string, NetworkRecord>();
  readonly #rowNames = new RowNames();
  readonly #wires = new Wires();
  /** Network → the NAD that says what it is: the oldest. */
  readonly #definitions = new Map<string, NadRecord>();
  readonly #reservations = new NetworkReservations();
  /** What networks had before a restart that found no room to grow; until they are looked at for the first time. */
  readonly #parts = new Map<string, Network>();

  constructor(cluster: ClusterConfig, limits: NetworkLimits = { maxNetworks: MOST_NETWORKS }) {
    this.#cluster = cluster;
    this.#keys = new KeyLedger(cluster);
    this.#room = new NetworkRoom(cluster, limits, idSupply(this.#keys.record));
  }

  get(name: string): NetworkRecord | undefined {
    return this.#networks.get(name);
  }

  /** What is written down of ids. */
  get ids(): IdRecord {
    return this.#keys.record;
  }

  hasId(name: string): boolean {
    return this.#keys.has(name);
  }

  /** More ids can be assigned than before: those who wait for one get it. */
  idsCame(): readonly NetworkChange[] {
    return this.#passOnRoom();
  }

  /** The name of the network that has an id. */
  holderOf(id: number): string | undefined {
    return this.#keys.holderOf(id);
  }

  /** When the NAD that defines a network was created, as the API writes times; empty: there is none. */
  createdAt(name: string): string {
    return this.#definitions.get(name)?.metadata.creationTimestamp ?? '';
  }

  networks(): IterableIterator<NetworkRecord> {
    return this.#networks.values();
  }

  nad(key: string): NadRecord | undefined {
    return this.#nads.get(key);
  }

  /** The network of a NAD, when the NAD is the one that defines it or agrees with that one. */
  networkOfNad(key: string): NetworkRecord | undefined {
    const nad = this.#nads.get(key);
    return nad === undefined || this.#contradicts(nad) ? undefined : this.#networks.get(nad.conf.name);
  }

  /** A message when a NAD contradicts the one that defines its network. */
  mismatch(key: string): readonly string[] {
    const nad = this.#nads.get(key);
    if (nad === undefined || !this.#contradicts(nad)) return [];
    const definition = this.#definitions.get(nad.conf.name);
    if (this.#isForeign(nad)) return [belongs(nad.conf.name, definition?.key)];
    return [`${noMatch(nad.conf.name)}${definition?.key} defines`];
  }

  /** Whether the NAD has the name of a network that others are rendered from, and that is not its namespace's. */
  isForeign(key: string): boolean {
    const nad = this.#nads.get(key);
    return nad !== undefined && this.#isForeign(nad);
  }

  /** Whether pods of a namespace may be on the network of a NAD by it. */
  isFor(nad: NadRecord, namespace: string): boolean {
    return mayAttach(scopedNad(nad), namespace, this.#cluster);
  }

  nadsIn(namespace: string): readonly NadRecord[] {
    return [...this.#byNamespace.get(namespace)].flatMap((key) => this.#nads.get(key) ?? []);
  }

  nadsOf(network: string): readonly NadRecord[] {
    return [...this.#byNetwork.of(network)];
  }

  primaryOf(namespace: string, labels: Labels): PrimaryNetwork<NadRecord> {
    return primaryNetworkOf(namespace, labels, this.nadsIn(namespace));
  }

  /**
   * Takes note of the ids that a NAD has, before any are given out: to be called for all NADs, oldest first.
   * @returns messages for the owner of the NAD
   */
  recover(nad: NadFacts): readonly string[] {
    const { keys, keysError } = nad;
    // Of another plugin: whatever its annotations say, it is no network of ours.
    if (nad.conf === undefined && nad.confError === undefined) return [];
    const name = nad.conf?.name ?? nad.annotatedNetwork;
    const faults = keysError === undefined ? [] : [describeFinding(keysError)];
    if (keys === undefined || name === undefined) return faults;
    if (nad.annotatedNetwork !== undefined && nad.annotatedNetwork !== name) return faults;
    if (nad.conf === undefined) this.#unreadable.set(nad.key, name);
    const problems = this.#keys.recover(name, keys);
    // Agents let the oldest network with an id have them, whatever it was rendered from.
    if (nad.conf !== undefined && keysError === undefined && this.#keys.has(name)) this.#rowNames.recover(name);
    return [...faults, ...problems];
  }

  /**
   * Counts what networks have that hold ids, before there is room for any other: to be called once, after `recover`.
   * @param nads those that define networks first @param heldFamilies what the nodes have; asked when the networks are more than
   *   there is room for
   */
  recoverRoom(nads: readonly NadFacts[], heldFamilies: () => HeldFamilies): void {
    const networks = new Map<string, { network: Network; namespace: string }>();
    for (const { conf, metadata } of nads) {
      if (conf === undefined || networks.has(conf.name) || !this.#keys.has(conf.name)) continue;
      const network = networkOrNone(conf, this.#cluster);
      if (network !== undefined) networks.set(conf.name, { network, namespace: metadata.namespace });
    }
    for (const { network, namespace } of networks.values()) this.#room.take(needsOf(network, namespace));
    if (!this.#room.isOverdrawn) return;
    const held = heldFamilies();
    for (const [name, { network, namespace }] of networks) {
      const part = partOf(network, held);
      if (part === undefined) continue;
      this.#parts.set(name, part);
      this.#room.take(needsOf(part, namespace));
    }
  }

  /**
   * The ids for a NAD that is about to be written and is not there yet. They stay its network's until the NAD was seen, or is
   * known not to come (`settle`); asking twice is asking once.
   * @returns undefined when the network gets none, or not now: whether it does is seen when the NAD is there
   */
  reserve(nadKey: string, conf: NetConf): NetworkKeys | undefined {
    const { name } = conf;
    const definition = this.#definitions.get(name);
    if (definition !== undefined && !sameNetwork(definition.conf, conf)) return undefined;
    const keys = this.#networks.get(name)?.keys ?? this.#reserveKeys(conf, nadKey.split('/')[0]);
    if (keys !== undefined) this.#reservations.add(name, nadKey);
    return keys;
  }

  /**
   * It is known that a NAD that was to be written is not there and will not come. Absent is success.
   * @param wasThere somebody may have seen it
   */
  settle(nadKey: string, wasThere = true): readonly NetworkChange[] {
    const free = this.#reservations.settle(nadKey).filter((name) => !this.#networks.has(name));
    if (free.length === 0) return [];
    const changes = free.flatMap((name) => {
      this.#room.release(name);
      this.#releaseUnused(name, wasThere);
      return [...this.#passOnRowNames(name), ...(this.#byNetwork.has(name) ? this.#refresh(name).change : [])];
    });
    return [...changes, ...this.#passOnRoom()];
  }

  /**
   * A NAD that is new or has changed. Its network has its ids from here on at the latest.
   * @param isOwn whether it was rendered from the network that its network name belongs to
   */
  upsert(nad: NadFacts, isOwn = isNamedByOwner(nad)): NadResult {
    const { changes, problems } = this.#note(nad, isOwn);
    return { changes: [...changes, ...this.settle(nad.key)], problems };
  }

  /** Absent is success. */
  remove(key: string): readonly NetworkChange[] {
    return [...this.#drop(key), ...this.settle(key)];
  }

  #note(nad: NadFacts, isOwn: boolean): NadResult {
    const before = this.#nads.get(nad.key);
    const conf = nad.conf ?? (nad.confError === undefined ? undefined : before?.conf);
    if (conf === undefined) {
      return { changes: nad.confError === undefined ? this.#drop(nad.key) : [], problems: faultsOf(nad) };
    }
    const left = before !== undefined && before.conf.name !== conf.name ? this.#drop(nad.key) : [];
    this.#unreadable.delete(nad.key);
    const record = { ...nad, conf, isOwn };
    this.#nads.set(nad.key, record);
    this.#byNetwork.set(record);
    this.#byNamespace.add(nad.metadata.namespace, nad.key);
    const { change, problem } = this.#refresh(conf.name);
    const passedOn = change.some(({ before: was }) => was !== undefined) ? this.#passOnRoom() : [];
    const hasLeft = before?.conf.role === 'primary' && conf.role !== 'primary';
    const succeeding = hasLeft ? this.#passOnPrimary(nad.metadata.namespace) : [];
    return {
      changes: [...left, ...change, ...succeeding, ...passedOn],
      problems: [...faultsOf(nad), ...problem, ...this.mismatch(nad.key)],
    };
  }

  #drop(key: string): readonly NetworkChange[] {
    const nad = this.#nads.get(key);
    const unreadable = this.#unreadable.get(key);
    this.#unreadable.delete(key);
    if (nad === undefined) {
      if (unreadable !== undefined) this.#releaseUnused(unreadable);
      return unreadable === undefined ? [] : this.#passOnRoom();
    }
    this.#nads.delete(key);
    this.#byNetwork.delete(nad.conf.name, key);
    this.#byNamespace.delete(nad.metadata.namespace, key);
    const change = this.#refresh(nad.conf.name).change;
    const succeeding = nad.conf.role === 'primary' ? this.#passOnPrimary(nad.metadata.namespace) : [];
    return [...change, ...succeeding, ...this.#passOnRoom()];
  }

  /** Makes the record of a network agree with its NADs. */
  #refresh(name: string): { change: NetworkChange[]; problem: string[] } {
    const definition = this.#byNetwork.definitionOf(name);
    if (definition === undefined) return { change: this.#forget(name), problem: [] };
    const isOther = this.#definitions.get(name)?.isOwn !== definition.isOwn;
    this.#definitions.set(name, definition);
    const had: NetworkChange[] = [];
    try {
      had.push(...this.#recoverPart(name));
      const { change, problem } = this.#define(name, definition);
      const all = [...had, ...change];
      // Who had a part in it so far may have none any more, or the other way round.
      const same = isOther && all.length === 0 ? this.#networks.get(name) : undefined;
      return { change: same === undefined ? all : [{ before: same, after: same }], problem };
    } catch (error) {
      return { change: had, problem: [noId(name, messageOf(error))] };
    }
  }

  /** @throws NetError, or an Error with the reason why it gets no ids */
  #define(name: string, { conf, metadata }: NadRecord): { change: NetworkChange[]; problem: string[] } {
    const before = this.#networks.get(name);
    const rival = rivalry(this.#byNetwork.of(name), (namespace) => this.nadsIn(namespace));
    const refusal = refusalOf(conf, this.#cluster) ?? rival ?? this.#wires.refuse(networkOrNone(conf, this.#cluster));
    const hasId = this.#keys.has(name);
    // What is reserved for another NAD of that name is not yet what a network works with.
    const isOld = hasId && (before !== undefined || !this.#reservations.has(name));
    if (refusal !== undefined && !isOld) return { change: [], problem: [noId(name, refusal)] };
    // One that has its id works with it: whatever is refused now, what there was stays.
    const problem = refusal === undefined ? [] : [about(name, refusal)];
    if (refusal !== undefined && before !== undefined) return { change: [], problem };
    const network = networkOfNetConf(conf, this.#cluster);
    const full = this.#room.refusalOf(needsOf(network, metadata.namespace), this.#keys.size, hasId);
    if (full === ONE_MOMENT) return { change: [], problem: [] };
    if (full !== undefined) return { change: [], problem: [isOld ? about(name, full) : noId(name, full)] };
    const after: NetworkRecord = { name, network, keys: this.#assignKeys(network) };
    this.#room.take(needsOf(network, metadata.namespace));
    const isSame = before !== undefined && jsonEqual(before, after);
    if (!isSame) this.#networks.set(name, after);
    return { change: isSame ? [] : [{ before, after }], problem };
  }

  /** Its last NAD is gone. What is reserved stays. */
  #forget(name: string): NetworkChange[] {
    const before = this.#networks.get(name);
    this.#definitions.delete(name);
    this.#networks.delete(name);
    this.#parts.delete(name);
    const gone = before === undefined ? [] : [{ before, after: undefined }];
    if (this.#reservations.has(name)) return gone;
    this.#room.release(name);
    this.#releaseUnused(name);
    return [...gone, ...this.#passOnRowNames(name)];
  }

  #recoverPart(name: string): NetworkChange[] {
    const network = this.#parts.get(name);
    this.#parts.delete(name);
    if (network === undefined) return [];
    const after: NetworkRecord = { name, network, keys: this.#assignKeys(network) };
    this.#networks.set(name, after);
    return [{ before: undefined, after }];
  }

  #reserveKeys(conf: NetConf, namespace: string | undefined): NetworkKeys | undefined {
    const { name } = conf;
    const isReserved = this.#reservations.has(name);
    // An id without a network is that of a NAD that can't be read: it is not given to another one.
    if (!isReserved && (this.#byNetwork.has(name) || this.#keys.has(name))) return undefined;
    if (refusalOf(conf, this.#cluster) !== undefined || this.#rowNames.isTaken(name)) return undefined;
    const network = networkOrNone(conf, this.#cluster);
    if (network === undefined || this.#wires.refuse(network) !== undefined) return undefined;
    if (!this.#room.hasRoomFor(needsOf(network, namespace), this.#keys.size, isReserved)) return undefined;
    try {
      const keys = this.#assignKeys(network);
      this.#room.take(needsOf(network, namespace));
      return keys;
    } catch {
      if (!isReserved) this.#forget(name);
      return undefined;
    }
  }

  #assignKeys(network: Network): NetworkKeys {
    this.#rowNames.claim(network.name);
    const keys = this.#keys.assign(network);
    this.#wires.enter(network);
    return keys;
  }

  #passOnRowNames(name: string): NetworkChange[] {
    this.#wires.leave(name);
    return this.#rowNames.release(name).flatMap((next) => this.#refresh(next).change);
  }

  /** The first primary network of a namespace may be another one. */
  #passOnPrimary(namespace: string): NetworkChange[] {
    return this.nadsIn(namespace)
      .filter(({ conf }) => conf.role === 'primary' && !this.#networks.has(conf.name))
      .flatMap(({ conf }) => this.#refresh(conf.name).change);
  }

  /** What became free goes to those who wait for it. */
  #passOnRoom(): NetworkChange[] {
    const changes: NetworkChange[] = this.#wires.freed().flatMap((name) => this.#refresh(name).change);
    const tried = new Set<string>();
    const next = (): string | undefined => this.#room.next(this.#keys.size, (name) => this.#keys.has(name), tried);
    for (let name = next(); name !== undefined; name = next()) {
      changes.push(...this.#refresh(name).change);
      tried.add(name);
    }
    return changes;
  }

  #releaseUnused(name: string, isKnown = true): void {
    if (this.#networks.has(name) || this.#reservations.has(name)) return;
    if ([...this.#unreadable.values()].includes(name)) return;
    this.#keys.release(name, isKnown);
  }

  #isForeign(nad: NadRecord): boolean {
    if (nad.isOwn) return false;
    const definition = this.#definitions.get(nad.conf.name);
    return isReserved(nad) || takesName(scopedNad(nad), definition && scopedNad(definition));
  }

  /** NADs of one ClusterUserDefinedNetwork change one after the other; only strangers contradict each other. */
  #contradicts(nad: NadRecord): boolean {
    if (this.#isForeign(nad)) return true;
    const definition = this.#definitions.get(nad.conf.name);
    if (definition === undefined || definition.key === nad.key) return false;
    const owner = controllerUid(nad);
    if (owner !== undefined && owner === controllerUid(definition)) return false;
    return !sameNetwork(nad.conf, definition.conf);
  }
}
