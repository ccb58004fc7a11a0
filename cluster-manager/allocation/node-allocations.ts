/**
 * What belongs to each node: its id, its transit addresses that follow from it, and its subnets of the default network and
 * of every layer-3 network. No I/O and no clock.
 */

import { formatAddressPair } from '../../api/annotations/node-addresses.ts';
import { formatNodeSubnet, joinNodeSubnets } from '../../api/annotations/node-subnets.ts';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { defaultNetwork, type Network, networkFamilies } from '../../api/network.ts';
import { nodeTransitAddresses } from '../../api/network-keys.ts';
import { messageOf } from '../../base/error-message.ts';
import { type Cidr, cidrFamily, cidrSize } from '../../net/cidr.ts';
import { parseNodeId } from '../../net/ids.ts';
import type { Family } from '../../net/ip.ts';
import { type HeldByNode, heldByNode, type NodeFacts } from '../facts/node-facts.ts';
import { createIdLedger } from './id-ledger.ts';
import type { SubnetUsage } from './port.ts';
import { createSubnetLedger, type SubnetLedger } from './subnet-ledger.ts';

/** Ids 0 and 1 are reserved: the first address of a join subnet is the cluster router's. */
export const FIRST_NODE_ID = 2;
export const LAST_NODE_ID = 5000;

/** The texts of the annotations that a node should have. */
export interface NodeAnnotationTexts {
  readonly id: string | undefined;
  readonly transitAddresses: string | undefined;
  readonly subnets: string;
}

interface NetworkEntry {
  readonly network: Network;
  readonly ledger: SubnetLedger;
  /** Node → why it has no subnet. */
  readonly failures: Map<string, string>;
}

export class NodeAllocations {
  readonly #cluster: ClusterConfig;
  readonly #ids = createIdLedger({ min: FIRST_NODE_ID, max: LAST_NODE_ID });
  readonly #nodes = new Set<string>();
  /** Node → families that its transit addresses had before this cluster manager wrote them. */
  readonly #heldTransit = new Map<string, readonly Family[]>();
  readonly #networks = new Map<string, NetworkEntry>();
  /** Names of the networks; sorted when they are needed, which is quick for a list that nearly is. */
  #sorted: string[] = [];
  /** How many networks have subnets of a family. */
  readonly #families = new Map<Family, number>();
  #isSorted = true;
  readonly #idFailures = new Map<string, string>();

  constructor(cluster: ClusterConfig) {
    this.#cluster = cluster;
    this.#addNetwork(defaultNetwork(cluster));
  }

  nodes(): readonly string[] {
    return [...this.#nodes];
  }

  /**
   * Takes note of what a node has, before anything is given out: to be called for all nodes, oldest first.
   * @returns messages for the events of the node
   */
  recover(node: NodeFacts, held: HeldByNode = heldByNode(node)): readonly string[] {
    const problems = held.errors.map(({ object, message }) => `${object}: ${message}`);
    if (held.id !== undefined) problems.push(...this.#recoverId(node.name, held.id));
    if (held.transitFamilies.length > 0) this.#heldTransit.set(node.name, held.transitFamilies);
    for (const [name, subnets] of held.subnets) {
      const entry = this.#networks.get(name);
      if (entry === undefined) continue;
      problems.push(...entry.ledger.recover(node.name, subnets).map((problem) => `network ${name}: ${problem}`));
    }
    return problems;
  }

  /** Takes note of what a node has of a network that is there again, before anything of it is given out; oldest first. */
  recoverSubnets(network: string, node: NodeFacts): void {
    // The text has a part for every network of the cluster: it is read only where it is about this one.
    if (node.annotations.subnets?.includes(`"${network}"`) !== true || !this.#nodes.has(node.name)) return;
    this.#networks.get(network)?.ledger.recover(node.name, heldByNode(node).subnets.get(network) ?? []);
  }

  /**
   * Gives a node its part of every network. One that is known has it, or waits for it; it costs nothing to hear of it again.
   * @returns the networks whose failures changed
   */
  addNode(name: string): readonly string[] {
    const isKnown = this.#nodes.has(name);
    this.#nodes.add(name);
    const failure = this.#assignId(name);
    if (failure === undefined) this.#idFailures.delete(name);
    else this.#idFailures.set(name, failure);
    return isKnown ? [] : [...this.#networks.keys()].filter((network) => this.#assign(network, name));
  }

  /** @returns the nodes that got what this one had, and the networks whose failures changed */
  removeNode(name: string): { readonly nodes: readonly string[]; readonly networks: readonly string[] } {
    if (!this.#nodes.delete(name)) return { nodes: [], networks: [] };
    this.#ids.release(name);
    this.#idFailures.delete(name);
    this.#heldTransit.delete(name);
    const nodes = new Set<string>();
    const networks = new Set<string>();
    for (const [network, { ledger, failures }] of this.#networks) {
      ledger.release(name);
      if (failures.delete(name)) networks.add(network);
      for (const waiting of [...failures.keys()]) {
        if (!this.#assign(network, waiting)) continue;
        nodes.add(waiting);
        networks.add(network);
      }
    }
    for (const waiting of [...this.#idFailures.keys()]) {
      this.addNode(waiting);
      nodes.add(waiting);
    }
    return { nodes: [...nodes], networks: [...networks] };
  }

  /** A layer-3 network that is new or has other subnets; nodes keep what they have of it. */
  setNetwork(network: Network): void {
    const before = this.#networks.get(network.name);
    const entry = this.#addNetwork(network);
    for (const node of before?.ledger.owners() ?? []) entry.ledger.recover(node, before?.ledger.get(node) ?? []);
  }

  /** Gives every node its subnets of a network. */
  assignNetwork(name: string): void {
    for (const node of this.#nodes) this.#assign(name, node);
  }

  /** @returns whether it was known */
  removeNetwork(name: string): boolean {
    this.#countFamilies(this.#networks.get(name)?.network, -1);
    this.#sorted = this.#sorted.filter((one) => one !== name);
    return this.#networks.delete(name);
  }

  subnetsOf(node: string, network: string): readonly Cidr[] | undefined {
    return this.#networks.get(network)?.ledger.get(node);
  }

  /** What the nodes' subnets of a network are cut from. */
  rangesOf(network: string): readonly Cidr[] {
    return this.#networks.get(network)?.network.subnets.map(({ cidr }) => cidr) ?? [];
  }

  /** How many nodes have their part of a network: a subnet of every family. */
  countOf(network: string): number {
    const entry = this.#networks.get(network);
    if (entry === undefined) return 0;
    const families = networkFamilies(entry.network).length;
    return entry.ledger.owners().filter((node) => entry.ledger.get(node)?.length === families).length;
  }

  usageOf(network: string): readonly SubnetUsage[] {
    return this.#networks.get(network)?.ledger.usage() ?? [];
  }

  /** Nodes without a subnet of the network, and why. */
  failures(network: string): ReadonlyMap<string, string> {
    return this.#networks.get(network)?.failures ?? new Map();
  }

  /** Why a node has no id, or no transit addresses although it has one. */
  idFailure(node: string): string | undefined {
    return this.#idFailures.get(node);
  }

  annotations(node: string): NodeAnnotationTexts {
    const id = this.#ids.get(node);
    const hasTransit = id !== undefined && this.#transitWithout(id) === undefined;
    return {
      id: id === undefined ? undefined : String(id),
      transitAddresses: hasTransit
        ? formatAddressPair(nodeTransitAddresses(this.#transitSubnetsOf(node), parseNodeId(id)))
        : undefined,
      subnets: this.#subnetsText(node),
    };
  }

  /** As `formatNodeSubnets` has it: written again with every network, for every node. */
  #subnetsText(node: string): string {
    if (!this.#isSorted) this.#sorted.sort();
    this.#isSorted = true;
    const parts: string[] = [];
    for (const name of this.#sorted) {
      const subnets = this.#networks.get(name)?.ledger.get(node);
      if (subnets !== undefined) parts.push(formatNodeSubnet(name, subnets));
    }
    return joinNodeSubnets(parts);
  }

  /** @returns what the node lacks, and why */
  #assignId(node: string): string | undefined {
    try {
      const id = this.#ids.assign(node);
      const small = this.#transitWithout(id);
      return small === undefined ? undefined : `transit subnet ${small} is too small for node id ${id}`;
    } catch {
      return `no node id is left, all from ${FIRST_NODE_ID} to ${LAST_NODE_ID} are in use`;
    }
  }

  /** Of the families that the cluster and its layer-3 networks have, and of those that the node has addresses of already. */
  #transitSubnetsOf(node: string): readonly Cidr[] {
    const held = this.#heldTransit.get(node) ?? [];
    return this.#cluster.transitSubnets.filter((cidr) => {
      const family = cidrFamily(cidr);
      return (this.#families.get(family) ?? 0) > 0 || held.includes(family);
    });
  }

  #countFamilies(network: Network | undefined, by: 1 | -1): void {
    for (const family of network === undefined ? [] : networkFamilies(network)) {
      this.#families.set(family, (this.#families.get(family) ?? 0) + by);
    }
  }

  /** The transit subnet that has no address for a node of this id; the last of IPv4 is the broadcast address. */
  #transitWithout(id: number): Cidr | undefined {
    return this.#cluster.transitSubnets.find(
      (cidr) => BigInt(id) >= cidrSize(cidr) - (cidrFamily(cidr) === 4 ? 1n : 0n),
    );
  }

  #recoverId(node: string, id: number): string[] {
    if (id < FIRST_NODE_ID) return [`node id ${id} is reserved`];
    const holder = this.#ids.recover(node, id);
    return holder === undefined ? [] : [`node id ${id} already belongs to node ${holder}`];
  }

  #addNetwork(network: Network): NetworkEntry {
    const ranges = network.subnets.flatMap(({ cidr, hostPrefix }) =>
      hostPrefix === undefined ? [] : [{ cidr, hostPrefix }],
    );
    const entry: NetworkEntry = { network, ledger: createSubnetLedger(ranges), failures: new Map() };
    this.#countFamilies(this.#networks.get(network.name)?.network, -1);
    this.#countFamilies(network, 1);
    if (!this.#networks.has(network.name)) {
      this.#sorted.push(network.name);
      this.#isSorted = false;
    }
    this.#networks.set(network.name, entry);
    return entry;
  }

  /** @returns whether something changed that a network's status shows */
  #assign(network: string, node: string): boolean {
    const entry = this.#networks.get(network);
    if (entry === undefined) return false;
    const before = entry.failures.get(node);
    try {
      entry.ledger.assign(node);
      return entry.failures.delete(node);
    } catch (error) {
      const message = messageOf(error);
      entry.failures.set(node, message);
      return message !== before;
    }
  }
}
