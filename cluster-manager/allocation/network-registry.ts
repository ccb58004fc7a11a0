/**
 * The user-defined networks of the cluster: what their NADs say, and the ids and tunnel keys that they hold. A network is
 * known by its name; the NADs of all its namespaces are the same network. No I/O and no clock.
 */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { ApiError, describeFinding } from '../../api/errors.ts';
import type { Labels } from '../../api/label-selector.ts';
import { networkPrefix } from '../../api/names.ts';
import { type NetConf, sameNetwork } from '../../api/net-conf.ts';
import { type Network, networkOfNetConf } from '../../api/network.ts';
import type { NetworkKeys } from '../../api/network-attachment-definition.ts';
import { FIRST_ALLOCATED_KEY, LAST_ALLOCATED_KEY, networkDatapathKey } from '../../api/network-keys.ts';
import { refuseOverlaps } from '../../api/network-overlap.ts';
import { compareByAge } from '../../api/object.ts';
import { type PrimaryNetwork, primaryNetworkOf } from '../../api/primary-network.ts';
import { parseDatapathKey, parseNetworkId } from '../../net/ids.ts';
import { controllerUid, type NadFacts } from '../facts/nad-facts.ts';
import { refuseUnsupported } from '../render/unsupported.ts';
import { createIdLedger } from './id-ledger.ts';
import { MOST_NETWORKS, type NetworkLimits, NetworkRoom } from './network-room.ts';

export interface NetworkRecord {
  readonly name: string;
  readonly network: Network;
  readonly keys: NetworkKeys;
}

/** A NAD whose configuration is good, or was the last time it could be read. */
export interface NadRecord extends NadFacts {
  readonly conf: NetConf;
}

export interface NetworkChange {
  readonly before: NetworkRecord | undefined;
  readonly after: NetworkRecord | undefined;
}

export interface NadResult {
  /** What became of the networks that the NAD is and was about. */
  readonly changes: readonly NetworkChange[];
  /** Sentences for the owner of the NAD. */
  readonly problems: readonly string[];
}

export class NetworkRegistry {
  readonly #cluster: ClusterConfig;
  readonly #room: NetworkRoom;
  readonly #ids = createIdLedger({ min: 1, max: MOST_NETWORKS });
  /** Of transit routers; a network's other key derives from its id. */
  readonly #routerKeys = createIdLedger({ min: FIRST_ALLOCATED_KEY, max: LAST_ALLOCATED_KEY });
  readonly #nads = new Map<string, NadRecord>();
  readonly #byNetwork = new Map<string, Set<string>>();
  readonly #byNamespace = new Map<string, Set<string>>();
  /** Names that NADs hold an id for although their configuration can't be read. */
  readonly #unreadable = new Map<string, string>();
  readonly #networks = new Map<string, NetworkRecord>();
  /** Prefix of the names of OVN rows → the network that has it, and networks that would have it, too. */
  readonly #prefixes = new Map<string, string>();
  readonly #waiting = new Map<string, Set<string>>();
  /** Network → the NAD that says what it is: the oldest. */
  readonly #definitions = new Map<string, NadRecord>();

  constructor(cluster: ClusterConfig, limits: NetworkLimits = { maxNetworks: MOST_NETWORKS }) {
    this.#cluster = cluster;
    this.#room = new NetworkRoom(cluster, limits);
  }

  get(name: string): NetworkRecord | undefined {
    return this.#networks.get(name);
  }

  /** The name of the network that has an id. */
  holderOf(id: number): string | undefined {
    return this.#ids.holderOf(id);
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

  /** A sentence when a NAD contradicts the one that defines its network. */
  mismatch(key: string): readonly string[] {
    const nad = this.#nads.get(key);
    if (nad === undefined || !this.#contradicts(nad)) return [];
    return [`${noMatch(nad.conf.name)}${this.#definitions.get(nad.conf.name)?.key} defines`];
  }

  nadsIn(namespace: string): readonly NadRecord[] {
    return this.#recordsOf(this.#byNamespace.get(namespace));
  }

  nadsOf(network: string): readonly NadRecord[] {
    return this.#recordsOf(this.#byNetwork.get(network));
  }

  primaryOf(namespace: string, labels: Labels): PrimaryNetwork<NadRecord> {
    return primaryNetworkOf(namespace, labels, this.nadsIn(namespace));
  }

  /**
   * Takes note of the ids that a NAD has, before any are given out: to be called for all NADs, oldest first.
   * @returns sentences for the owner of the NAD
   */
  recover(nad: NadFacts): readonly string[] {
    const { keys, keysError } = nad;
    // Of another plugin: whatever its annotations say, it is no network of ours.
    if (nad.conf === undefined && nad.confError === undefined) return [];
    const name = nad.conf?.name ?? nad.annotatedNetwork;
    if (keysError !== undefined) return [describeFinding(keysError)];
    if (keys === undefined || name === undefined) return [];
    if (nad.annotatedNetwork !== undefined && nad.annotatedNetwork !== name) return [];
    if (nad.conf === undefined) this.#unreadable.set(nad.key, name);
    return [...this.#recoverId(name, keys), ...this.#recoverRouterKey(name, keys)];
  }

  /** A NAD that is new or has changed. Its network gets its ids here. */
  upsert(nad: NadFacts): NadResult {
    const before = this.#nads.get(nad.key);
    const conf = nad.conf ?? (nad.confError === undefined ? undefined : before?.conf);
    if (conf === undefined) {
      return { changes: nad.confError === undefined ? this.remove(nad.key) : [], problems: messages(nad) };
    }
    const left = before !== undefined && before.conf.name !== conf.name ? this.remove(nad.key) : [];
    this.#unreadable.delete(nad.key);
    this.#nads.set(nad.key, { ...nad, conf });
    addTo(this.#byNetwork, conf.name, nad.key);
    addTo(this.#byNamespace, nad.metadata.namespace, nad.key);
    const { change, problem } = this.#refresh(conf.name);
    const passedOn = change.some(({ before: was }) => was !== undefined) ? this.#passOnRoom() : [];
    return {
      changes: [...left, ...change, ...passedOn],
      problems: [...messages(nad), ...problem, ...this.mismatch(nad.key)],
    };
  }

  /** Absent is success. */
  remove(key: string): readonly NetworkChange[] {
    const nad = this.#nads.get(key);
    const unreadable = this.#unreadable.get(key);
    this.#unreadable.delete(key);
    if (nad === undefined) {
      if (unreadable !== undefined) this.#releaseUnused(unreadable);
      return unreadable === undefined ? [] : this.#passOnRoom();
    }
    this.#nads.delete(key);
    removeFrom(this.#byNetwork, nad.conf.name, key);
    removeFrom(this.#byNamespace, nad.metadata.namespace, key);
    return [...this.#refresh(nad.conf.name).change, ...this.#passOnRoom()];
  }

  #recordsOf(keys: ReadonlySet<string> | undefined): readonly NadRecord[] {
    return [...(keys ?? [])].flatMap((key) => this.#nads.get(key) ?? []);
  }

  #recoverId(name: string, { id }: NetworkKeys): string[] {
    const held = this.#ids.get(name);
    if (held === id) return [];
    if (held !== undefined) return [`network id ${id} is not the network's: ${held} stays`];
    if (id === 0) return ['network id 0 is that of the default network'];
    const holder = this.#ids.recover(name, id);
    return holder === undefined ? [] : [`network id ${id} belongs to network ${holder} already`];
  }

  #recoverRouterKey(name: string, { tunnelKeys }: NetworkKeys): string[] {
    const key = tunnelKeys[1];
    const held = this.#routerKeys.get(name);
    if (key === undefined || held === key) return [];
    if (held !== undefined) return [`tunnel key ${key} is not the network's: ${held} stays`];
    if (key < FIRST_ALLOCATED_KEY) return [`tunnel key ${key} is below ${FIRST_ALLOCATED_KEY}`];
    const holder = this.#routerKeys.recover(name, key);
    return holder === undefined ? [] : [`tunnel key ${key} belongs to network ${holder} already`];
  }

  /** Makes the record of a network agree with its NADs. */
  #refresh(name: string): { change: NetworkChange[]; problem: string[] } {
    const before = this.#networks.get(name);
    const definition = this.#oldest(name);
    if (definition === undefined) {
      this.#definitions.delete(name);
      this.#networks.delete(name);
      this.#room.release(name);
      this.#releaseUnused(name);
      const gone = before === undefined ? [] : [{ before, after: undefined }];
      return { change: [...gone, ...this.#passOnPrefix(name)], problem: [] };
    }
    this.#definitions.set(name, definition);
    const refusal = this.#refusalOf(definition.conf);
    const hasId = this.#ids.get(name) !== undefined;
    if (refusal !== undefined && !hasId) return { change: [], problem: [noId(name, refusal)] };
    // One that has its id works with it: whatever is refused now, what there was stays.
    const told = refusal === undefined ? [] : [`network ${name}: ${refusal}`];
    if (refusal !== undefined && before !== undefined) return { change: [], problem: told };
    try {
      const network = networkOfNetConf(definition.conf, this.#cluster);
      const full = this.#room.refusalOf(network, this.#ids.size, hasId);
      if (full !== undefined) return { change: [], problem: [hasId ? `network ${name}: ${full}` : noId(name, full)] };
      const after: NetworkRecord = { name, network, keys: this.#assignKeys(network) };
      this.#room.take(network);
      const isSame = before !== undefined && JSON.stringify(before) === JSON.stringify(after);
      if (!isSame) this.#networks.set(name, after);
      return { change: isSame ? [] : [{ before, after }], problem: told };
    } catch (error) {
      return { change: [], problem: [noId(name, error instanceof Error ? error.message : String(error))] };
    }
  }

  /** Why a NAD that was written by hand can be no network; what is rendered has been judged before. */
  #refusalOf(conf: NetConf): string | undefined {
    try {
      refuseUnsupported(conf);
      refuseOverlaps(conf, this.#cluster);
      return undefined;
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  }

  #oldest(name: string): NadRecord | undefined {
    const [first, ...others] = this.#recordsOf(this.#byNetwork.get(name));
    return others.reduce(
      (oldest, nad) => (oldest !== undefined && compareByAge(oldest.metadata, nad.metadata) <= 0 ? oldest : nad),
      first,
    );
  }

  #assignKeys(network: Network): NetworkKeys {
    this.#claimPrefix(network.name);
    const id = parseNetworkId(this.#ids.assign(network.name));
    if (network.topology !== 'layer2' || network.role !== 'primary') return { id, tunnelKeys: [] };
    const routerKey = parseDatapathKey(this.#routerKeys.assign(network.name));
    return { id, tunnelKeys: [networkDatapathKey(id), routerKey] };
  }

  /** `a.b` and `a-b` are two networks whose OVN rows would have the same names: the first keeps them for itself. */
  #claimPrefix(name: string): void {
    const prefix = networkPrefix(name);
    const holder = this.#prefixes.get(prefix) ?? name;
    if (holder !== name) {
      addTo(this.#waiting, prefix, name);
      throw new Error(`its OVN rows would have the same names as those of network ${holder}`);
    }
    removeFrom(this.#waiting, prefix, name);
    this.#prefixes.set(prefix, name);
  }

  #passOnPrefix(name: string): NetworkChange[] {
    const prefix = networkPrefix(name);
    removeFrom(this.#waiting, prefix, name);
    if (this.#prefixes.get(prefix) !== name) return [];
    this.#prefixes.delete(prefix);
    const [next] = this.#waiting.get(prefix) ?? [];
    return next === undefined ? [] : this.#refresh(next).change;
  }

  /** What became free goes to those who wait for it. */
  #passOnRoom(): NetworkChange[] {
    const changes: NetworkChange[] = [];
    const tried = new Set<string>();
    const next = (): string | undefined =>
      this.#room.next(this.#ids.size, (name) => this.#ids.get(name) !== undefined, tried);
    for (let name = next(); name !== undefined; name = next()) {
      changes.push(...this.#refresh(name).change);
      tried.add(name);
    }
    return changes;
  }

  #releaseUnused(name: string): void {
    if (this.#networks.has(name) || [...this.#unreadable.values()].includes(name)) return;
    this.#ids.release(name);
    this.#routerKeys.release(name);
  }

  /** NADs of one ClusterUserDefinedNetwork change one after the other; only strangers contradict each other. */
  #contradicts(nad: NadRecord): boolean {
    const definition = this.#definitions.get(nad.conf.name);
    if (definition === undefined || definition.key === nad.key) return false;
    const owner = controllerUid(nad);
    if (owner !== undefined && owner === controllerUid(definition)) return false;
    return !sameNetwork(nad.conf, definition.conf);
  }
}

const noId = (name: string, why: string): string => `no id for network ${name}: ${why}`;

const noMatch = (name: string): string => `CNI config does not match that of network ${name}, which `;

/** Whether a sentence about a NAD says that its network has no id. */
export const isRefusal = (name: string, sentence: string): boolean => sentence.startsWith(noId(name, ''));

/** Whether it says that the NAD contradicts the one that defines the network. */
export const isMismatch = (name: string, sentence: string): boolean => sentence.startsWith(noMatch(name));

const messages = ({ confError, keysError }: NadFacts): string[] =>
  [confError, keysError].flatMap((error) => (error === undefined ? [] : [describeFinding(error)]));

const addTo = (index: Map<string, Set<string>>, key: string, item: string): void => {
  const items = index.get(key) ?? new Set();
  index.set(key, items.add(item));
};

const removeFrom = (index: Map<string, Set<string>>, key: string, item: string): void => {
  const items = index.get(key);
  items?.delete(item);
  if (items?.size === 0) index.delete(key);
};
