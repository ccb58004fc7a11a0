/** Nodes as facts: what they say of themselves, less what is another's. A node that has what an older one has is none to us. */
import { isDeepStrictEqual } from 'node:util';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { NODE_ANNOTATIONS, refusalOfNodeName } from '../../api/names.ts';
import { addressOf } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import type { FactStore } from '../model/fact-store.ts';
import { nodeSubnetsId } from '../model/facts.ts';
import { NodeAddresses } from './node-addresses.ts';
import { identityOf, NodeClaims } from './node-claims.ts';
import type { NodeProjection } from './node-projection.ts';
import { type NodeRanges, nodeRanges } from './node-ranges.ts';
import type { Problem } from './problem.ts';

export interface NodeIndexOptions {
  readonly cluster: ClusterConfig;
  /** The node whose gateway and addresses somebody else knows first-hand. */
  readonly own: string | undefined;
  /** The mirror of nodes. */
  readonly get: (name: string) => NodeProjection | undefined;
}

export class NodeIndex {
  readonly #facts: FactStore;
  readonly #options: NodeIndexOptions;
  readonly #identities = new NodeClaims();
  readonly #tunnels = new NodeClaims();
  readonly #gateways = new NodeClaims();
  readonly #addresses: NodeAddresses;
  readonly #problems = new Map<string, Problem[]>();
  /** As the facts have them. */
  readonly #known = new Map<string, NodeProjection>();
  readonly #ranges: NodeRanges;

  constructor(facts: FactStore, options: NodeIndexOptions) {
    this.#facts = facts;
    this.#options = options;
    this.#addresses = new NodeAddresses(facts);
    this.#ranges = nodeRanges(options.cluster);
  }

  get problems(): readonly Problem[] {
    return [...this.#problems.values()].flat();
  }

  /** Undefined when the node is gone. */
  change(name: string, after: NodeProjection | undefined): void {
    // What has such a name is no node, and keeps nothing from one.
    const others = this.#claim(name, refusalOfNodeName(name) === undefined ? after : undefined);
    this.#publish(name, after);
    for (const other of others) this.#publish(other, this.#options.get(other));
  }

  #claim(name: string, node: NodeProjection | undefined): ReadonlySet<string> {
    const claim = (things: readonly string[], proven: readonly string[] = []) =>
      node && { name, createdAt: node.createdAt, things, proven };
    const claimed = (what: string, ips: readonly Ip[]) => {
      const things = (all: readonly Ip[]): string[] => all.map((ip) => `its ${what} address ${ip}`);
      return claim(things(ips), things(node?.internalIps ?? []));
    };
    return this.#identities
      .set(name, claim(node === undefined ? [] : identityOf(node.fact)))
      .union(this.#tunnels.set(name, claimed("tunnels'", node?.fact.encapIps ?? [])))
      .union(this.#gateways.set(name, claimed("gateway's", node?.gateway?.addresses.map(addressOf) ?? [])));
  }

  #publish(name: string, projection: NodeProjection | undefined): void {
    const problems: Problem[] = [];
    const object = `Node/${name}`;
    const refusal = projection && (refusalOfNodeName(name) ?? this.#identities.refusalOf(name));
    if (refusal !== undefined) problems.push({ object, message: `${refusal}; the node is not programmed` });
    this.#facts.set('refusedNode', name, refusal);
    const counting = refusal === undefined ? projection : undefined;
    this.#enter(name, counting && this.#withoutForeign(counting, problems));
    if (problems.length === 0) this.#problems.delete(name);
    else this.#problems.set(name, problems);
  }

  /** What belongs to the cluster's pods, Services and routers is no node's, nor what is nobody's. */
  #withoutForeign(projection: NodeProjection, problems: Problem[]): NodeProjection {
    const { hostAddresses, gateway, fact } = this.#withoutTaken(projection, problems);
    const refused = (key: keyof typeof NODE_ANNOTATIONS, what: string, refusal: string | undefined): boolean => {
      if (refusal === undefined) return false;
      const message = `${NODE_ANNOTATIONS[key]}: ${what} ${refusal}`;
      problems.push({ object: `Node/${fact.name}`, message, severity: 'warning' });
      return true;
    };
    const isForeign = (key: keyof typeof NODE_ANNOTATIONS, ip: Ip): boolean =>
      refused(key, ip, this.#ranges.refusalOf(ip));
    const isWithoutGateway = gateway?.addresses.some((address) => isForeign('gatewayConfig', addressOf(address)));
    return {
      ...projection,
      fact: {
        ...fact,
        encapIps: fact.encapIps.filter((ip) => !isForeign('encapIps', ip)),
        transitAddresses: fact.transitAddresses.filter(
          (address) => !refused('transitAddresses', address, this.#ranges.transitRefusalOf(address)),
        ),
      },
      hostAddresses: hostAddresses.filter((address) => !isForeign('hostCidrs', addressOf(address))),
      gateway: isWithoutGateway === true ? undefined : gateway,
    };
  }

  /** A node that has another's address on the underlay is still a node, but nobody sends anything there for its sake. */
  #withoutTaken(
    projection: NodeProjection,
    problems: Problem[],
  ): Pick<NodeProjection, 'fact' | 'gateway' | 'hostAddresses'> {
    const { fact, gateway, hostAddresses } = projection;
    const [tunnel, way] = [this.#tunnels.refusalOf(fact.name), this.#gateways.refusalOf(fact.name)];
    const object = `Node/${fact.name}`;
    if (tunnel !== undefined)
      problems.push({ object, message: `${tunnel}; no tunnel to the node is programmed`, severity: 'warning' });
    if (way !== undefined)
      problems.push({ object, message: `${way}; other nodes cannot use its gateway`, severity: 'warning' });
    return {
      fact: tunnel === undefined ? fact : { ...fact, encapIps: [] },
      gateway: way === undefined ? gateway : undefined,
      hostAddresses,
    };
  }

  #enter(name: string, after: NodeProjection | undefined): void {
    const before = this.#known.get(name);
    if (after === undefined) this.#known.delete(name);
    else this.#known.set(name, after);
    this.#facts.set('node', name, after?.fact);
    if (name !== this.#options.own) {
      this.#facts.set('gateway', name, after?.gateway);
      this.#facts.set('hostAddresses', name, after?.hostAddresses);
    }
    this.#enterSubnets(name, before, after);
    this.#addresses.change(before, after);
  }

  /** The annotation of a node's subnets holds all networks: only those that differ become changes. */
  #enterSubnets(name: string, before: NodeProjection | undefined, after: NodeProjection | undefined): void {
    for (const [network, subnets] of after?.subnets ?? []) {
      if (isDeepStrictEqual(before?.subnets.get(network), subnets)) continue;
      this.#facts.set('nodeSubnets', nodeSubnetsId(name, network), subnets);
    }
    for (const network of before?.subnets.keys() ?? []) {
      if (after?.subnets.has(network) !== true) this.#facts.set('nodeSubnets', nodeSubnetsId(name, network), undefined);
    }
  }
}
