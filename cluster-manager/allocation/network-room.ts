/**
 * How many networks the cluster and each namespace may have, and how many the nodes can carry: the subnets that a node has of all layer-3 networks
 * are in one annotation, and an API server takes 262,144 bytes of all annotations of an object together
 * (TotalAnnotationSizeLimitB of k8s.io/apimachinery). Who finds no room waits, in the order of coming. No I/O and no clock.
 */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { cudnOfNetworkName, NODE_ANNOTATIONS } from '../../api/names.ts';
import { defaultNetwork, type Network } from '../../api/network.ts';
import { type Cidr, cidrFamily, prefixLength, subnetAt } from '../../net/cidr.ts';
import { MAX_NETWORKS } from '../../net/ids.ts';
import { FAMILIES, type Family } from '../../net/ip.ts';

/** Besides the default network, which has id 0. */
export const MOST_NETWORKS = MAX_NETWORKS - 1;

/** What is left to a node's other annotations is 16 KiB. */
export const NODE_SUBNETS_BYTES = 240 * 1024;

/** How a message begins that says so. */
export const NO_ROOM = `no space in annotation ${NODE_ANNOTATIONS.subnets}`;

/** In the message about a namespace that has as many networks as it may. */
export const PER_NAMESPACE_FLAG = '--max-networks-per-namespace';

export interface NetworkLimits {
  /** Of all namespaces, primary and secondary. */
  readonly maxNetworks: number;
  /** Of each namespace, primary and secondary; networks of the cluster are in none. Not given: as many as there are ids. */
  readonly maxNetworksPerNamespace?: number;
}

/** What a network takes of the room that there is. */
export interface Needs {
  readonly name: string;
  /** Whose networks it is counted among. Undefined: it is one of the cluster. */
  readonly namespace: string | undefined;
  /** In the annotation of every node. */
  readonly bytes: number;
}

/** @param namespace of the NAD that says what the network is */
export const needsOf = (network: Network, namespace = ''): Needs => ({
  name: network.name,
  namespace: cudnOfNetworkName(network.name) === undefined ? namespace : undefined,
  bytes: nodeSubnetsBytes(network),
});

/** Whether there is an id for one more network. */
export interface IdSupply {
  /** Now. */
  readonly hasNext: boolean;
  /** In a moment. */
  readonly hasMore: boolean;
  /** Why the moment may be long. */
  readonly failure: string | undefined;
  /** How many are known to wait for that moment. */
  readonly desired: number;
  /** One more waits for it. */
  want(): void;
  /** Why there is none. */
  readonly shortage: string;
}

const NO_RECORD = 'NetworkIdPool/cluster was not written';

/** Instead of a message: it waits for nothing but a moment. */
export const ONE_MOMENT = '';

export class NetworkRoom {
  readonly #ids: IdSupply | undefined;
  readonly #maxNetworks: number;
  readonly #maxPerNamespace: number;
  /** By the name of the network. */
  readonly #taken = new Map<string, Needs>();
  readonly #waiting = new Map<string, Needs>();
  /** Namespace → how many of what is taken are its networks. */
  readonly #counts = new Map<string, number>();
  #bytes: number;

  constructor(
    cluster: ClusterConfig,
    { maxNetworks, maxNetworksPerNamespace = MOST_NETWORKS }: NetworkLimits,
    ids?: IdSupply,
  ) {
    this.#ids = ids;
    this.#maxNetworks = maxNetworks;
    this.#maxPerNamespace = maxNetworksPerNamespace;
    // The braces, and the default network's part.
    this.#bytes = 2 + nodeSubnetsBytes(defaultNetwork(cluster));
  }

  /**
   * Whether there is room for a network, or for what it has become: who gets a message instead waits from now on. One that
   * has its id and was not seen before is from the time before a restart: what there was stays.
   * @param ids of how many networks are in use, @param hasId whether this one's is among them
   */
  refusalOf(needs: Needs, ids: number, hasId: boolean): string | undefined {
    const isOld = hasId && !this.#taken.has(needs.name);
    if (isOld || this.hasRoomFor(needs, ids, hasId)) return undefined;
    this.#waiting.set(needs.name, needs);
    if (!hasId && ids >= this.#maxNetworks) {
      if (this.#maxNetworks === MOST_NETWORKS) return `all ids from 1 to ${MOST_NETWORKS} are in use`;
      return `at most ${this.#maxNetworks} networks are allowed in this cluster (--max-networks), ${ids} exist`;
    }
    if (!hasId && this.#isFull(needs.namespace)) {
      return `at most ${this.#maxPerNamespace} networks are allowed in a namespace (${PER_NAMESPACE_FLAG}), ${needs.namespace} has ${this.#countOf(needs.namespace)}`;
    }
    if (!hasId && this.#ids?.hasNext === false) {
      if (!this.#ids.hasMore) return this.#ids.shortage;
      this.#ids.want();
      const { failure } = this.#ids;
      return failure === undefined ? ONE_MOMENT : `waiting for an id: ${NO_RECORD}: ${failure}`;
    }
    return `${NO_ROOM} of nodes: it needs ${needs.bytes} bytes, ${this.#bytes} of ${NODE_SUBNETS_BYTES} are used by subnets of other networks`;
  }

  /** Whether a network that was not seen yet would get no message; it does not wait for it. */
  hasRoomFor(needs: Needs, ids: number, hasId: boolean): boolean {
    return (hasId || this.#ids?.hasNext !== false) && this.#hasAllButId(needs, ids, hasId);
  }

  #hasAllButId({ name, namespace, bytes }: Needs, ids: number, hasId: boolean): boolean {
    const more = bytes - (this.#taken.get(name)?.bytes ?? 0);
    const isAllowed = hasId || (ids < this.#maxNetworks && !this.#isFull(namespace));
    return isAllowed && (more <= 0 || this.#bytes + more <= NODE_SUBNETS_BYTES);
  }

  /** More has been taken than there is. */
  get isOverdrawn(): boolean {
    return this.#bytes > NODE_SUBNETS_BYTES;
  }

  take(needs: Needs): void {
    this.release(needs.name);
    this.#taken.set(needs.name, needs);
    this.#count(needs, 1);
  }

  /** The network is gone, and waits no more. Absent is success. */
  release(name: string): void {
    this.#waiting.delete(name);
    const taken = this.#taken.get(name);
    if (taken !== undefined) this.#count(taken, -1);
    this.#taken.delete(name);
  }

  /**
   * Who has waited for longest of those that there is room for now. When there is none, but there could be ids, somebody
   * hears that they are desired. @param except who has had its turn
   */
  next(ids: number, hasId: (name: string) => boolean, except: ReadonlySet<string>): string | undefined {
    let wanting = 0;
    for (const [name, needs] of this.#waiting) {
      if (except.has(name)) continue;
      if (this.hasRoomFor(needs, ids, hasId(name))) return name;
      if (this.#hasAllButId(needs, ids, hasId(name))) wanting += 1;
    }
    if (this.#ids?.hasMore === true) for (; wanting > this.#ids.desired; ) this.#ids.want();
    return undefined;
  }

  #countOf(namespace: string | undefined): number {
    return namespace === undefined ? 0 : (this.#counts.get(namespace) ?? 0);
  }

  #isFull(namespace: string | undefined): boolean {
    return namespace !== undefined && this.#countOf(namespace) >= this.#maxPerNamespace;
  }

  #count({ namespace, bytes }: Needs, networks: 1 | -1): void {
    this.#bytes += networks * bytes;
    if (namespace === undefined) return;
    const now = this.#countOf(namespace) + networks;
    if (now === 0) this.#counts.delete(namespace);
    else this.#counts.set(namespace, now);
  }
}

/** Network → the families that some node has a subnet of. */
export type HeldFamilies = ReadonlyMap<string, ReadonlySet<Family>>;

/**
 * What a network has of which only a part is anywhere: it has grown and found no room. Undefined when that is all of it, or
 * none: then nothing is known. A range of a family that it had before looks the same, and takes hardly a byte.
 */
export const partOf = (network: Network, held: HeldFamilies): Network | undefined => {
  const families = held.get(network.name);
  if (network.topology !== 'layer3' || families === undefined) return undefined;
  const subnets = network.subnets.filter(({ cidr }) => families.has(cidrFamily(cidr)));
  return subnets.length === 0 || subnets.length === network.subnets.length ? undefined : { ...network, subnets };
};

/** At most so many bytes are `"name":["10.0.0.0/24","fd00::/64"],` of any node; nothing of networks that are not divided. */
export const nodeSubnetsBytes = ({ name, topology, subnets }: Network): number => {
  if (topology !== 'layer3') return 0;
  const texts = FAMILIES.flatMap((family) => {
    const lengths = subnets
      .filter(({ cidr }) => cidrFamily(cidr) === family)
      .map(({ cidr, hostPrefix = prefixLength(cidr) }) => lastSubnet(cidr, hostPrefix).length);
    return lengths.length === 0 ? [] : ['x'.repeat(Math.max(...lengths))];
  });
  return Buffer.byteLength(JSON.stringify({ [name]: texts })) - 1;
};

/** No other has more digits: every part of its address is as large as it gets. */
const lastSubnet = (cidr: Cidr, hostPrefix: number): Cidr =>
  subnetAt(cidr, hostPrefix, (1n << BigInt(hostPrefix - prefixLength(cidr))) - 1n);
