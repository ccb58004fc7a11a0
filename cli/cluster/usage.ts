/**
 * Addresses of every network: how many are in use and free, in all, on each node, and by which namespace. By the pools that the
 * cluster manager and the agents allocate from, so that what they never assign (gateways, excluded subnets) is not free. Pure.
 */
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { gatewayIp, managementIp, type Network, networkOfNetConf } from '../../api/network.ts';
import { addressPools } from '../../cluster-manager/allocation/address-pools.ts';
import { withoutAttachment } from '../../cluster-manager/facts/attached-keys.ts';
import { type AddressPool, addressPool, freeAddresses } from '../../net/allocator/addresses.ts';
import { addressOf, type Cidr, cidrContains, cidrContainsIp, hostRoute, prefixLength } from '../../net/cidr.ts';
import { type Ip, ipFamily } from '../../net/ip.ts';
import { podEntries } from '../why/pod-entries.ts';
import type { Snapshot } from './snapshot.ts';

export interface SubnetUsage {
  readonly subnet: string;
  /** Addresses that pods, or IPAMClaims without a pod, have. */
  readonly used: number;
  /** Of layer 3: in the subnets that nodes have. */
  readonly free: bigint;
  /** Of layer 3: how many nodes have a subnet of it, and how many more could. */
  readonly nodes?: { readonly used: number; readonly free: bigint };
}

export interface NetworkUsage {
  readonly network: string;
  readonly topology: string;
  readonly subnets: readonly SubnetUsage[];
  /** Of layer 3. */
  readonly nodes: readonly (SubnetUsage & { readonly node: string })[];
  readonly namespaces: readonly NamespaceUsage[];
}

export interface NamespaceUsage {
  readonly namespace: string;
  readonly pods: number;
  readonly ipv4: number;
  readonly ipv6: number;
}

/** Sorted by name, the default network among them. */
export const usageOf = (snapshot: Snapshot): readonly NetworkUsage[] => {
  const holdings = holdingsOf(snapshot);
  return networksOf(snapshot)
    .map((network) => networkUsage(network, holdings.get(network.name) ?? [], snapshot))
    .sort((a, b) => (a.network < b.network ? -1 : 1));
};

/** Ranges of the cluster are settings of the programs; what is asked of them here does not depend on them. */
const CLUSTER = parseClusterConfig();

const networksOf = ({ nads }: Snapshot): readonly Network[] => {
  const byName = new Map<string, Network>();
  for (const { conf } of nads.values()) {
    if (conf !== undefined && !byName.has(conf.name)) byName.set(conf.name, networkOfNetConf(conf, CLUSTER));
  }
  return [DEFAULT, ...byName.values()];
};

const NOTHING = { subnets: [], joinSubnets: [], transitSubnets: [], excludedSubnets: [], reservedSubnets: [] };
/** Its ranges are not in the API: nodes have their parts of them. */
const DEFAULT: Network = {
  ...{ name: DEFAULT_NETWORK_NAME, topology: 'layer3', role: 'default', mtu: CLUSTER.mtu },
  ...{ ...NOTHING, infrastructureSubnets: [], defaultGatewayIps: [] },
};

interface Holding {
  readonly namespace: string;
  /** `namespace/name` of a pod or of a claim. */
  readonly owner: string;
  readonly isPod: boolean;
  readonly ips: readonly Ip[];
}

/** By network. */
const holdingsOf = ({ pods, nads, claims }: Snapshot): ReadonlyMap<string, readonly Holding[]> => {
  const held = new Map<string, Holding[]>();
  const add = (network: string, holding: Holding): void =>
    void held.set(network, [...(held.get(network) ?? []), holding]);
  for (const pod of pods.values()) {
    const entries = podEntries(pod);
    if (pod.isCompleted || !(entries instanceof Map)) continue;
    for (const [nadKey, entry] of entries) {
      const network = nadKey === DEFAULT_NETWORK_NAME ? nadKey : nads.get(withoutAttachment(nadKey))?.conf?.name;
      if (network === undefined || !('ipAddresses' in entry)) continue;
      const ips = entry.ipAddresses.map(addressOf);
      add(network, { namespace: pod.namespace, owner: pod.key, isPod: true, ips });
    }
  }
  for (const { key, namespace, claim } of claims.values()) {
    if (claim === undefined) continue;
    add(claim.network, { namespace, owner: key, isPod: false, ips: claim.addresses.map(addressOf) });
  }
  return held;
};

const networkUsage = (network: Network, holdings: readonly Holding[], snapshot: Snapshot): NetworkUsage => {
  const ips = [...new Set(holdings.flatMap((one) => one.ips))];
  const nodes = network.topology === 'layer3' ? nodesUsage(network, ips, snapshot) : [];
  return {
    network: network.name,
    topology: network.topology,
    subnets: network.topology === 'layer3' ? rangesUsage(network, nodes) : poolsUsage(addressPools(network).pools, ips),
    nodes,
    namespaces: namespacesUsage(holdings),
  };
};

const poolsUsage = (pools: readonly AddressPool[], ips: readonly Ip[]): readonly SubnetUsage[] =>
  pools.map((pool) => {
    const used = ips.filter((ip) => cidrContainsIp(pool.cidr, ip));
    return { subnet: pool.cidr, used: used.length, free: atLeastNone(freeAddresses(pool, used)) };
  });

const nodesUsage = (network: Network, ips: readonly Ip[], { nodes }: Snapshot): NetworkUsage['nodes'] =>
  [...nodes.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, held }) =>
      poolsUsage(
        (held.subnets.get(network.name) ?? []).map((subnet) => addressPool(subnet, ofNode(network, subnet))),
        ips,
      ).map((usage) => ({ node: name, ...usage })),
    );

/** What an agent keeps for the node itself. */
const ofNode = (network: Network, subnet: Cidr): readonly Cidr[] =>
  [gatewayIp(network, subnet), managementIp(network, subnet)].map(hostRoute);

/** Each range of the network with the sums of its nodes; of the default network, whose ranges are unknown, one of each family. */
const rangesUsage = (network: Network, nodes: NetworkUsage['nodes']): readonly SubnetUsage[] => {
  if (network.subnets.length === 0) {
    return [...Map.groupBy(nodes, ({ subnet }) => (subnet.includes(':') ? 'IPv6' : 'IPv4'))].map(([family, own]) => ({
      ...sumOf(own),
      subnet: `${family} of ${own.length} nodes`,
    }));
  }
  return network.subnets.map(({ cidr, hostPrefix }) => {
    const own = nodes.filter(({ subnet }) => cidrContains(cidr, subnet as Cidr));
    const size = hostPrefix === undefined ? BigInt(own.length) : 1n << BigInt(hostPrefix - prefixLength(cidr));
    const left = { used: own.length, free: atLeastNone(size - BigInt(own.length)) };
    return { ...sumOf(own), subnet: hostPrefix === undefined ? cidr : `${cidr}/${hostPrefix}`, nodes: left };
  });
};

const sumOf = (usages: readonly SubnetUsage[]): Pick<SubnetUsage, 'used' | 'free'> => ({
  used: usages.reduce((sum, { used }) => sum + used, 0),
  free: usages.reduce((sum, { free }) => sum + free, 0n),
});

/** A pod may have an address that no pool would assign. */
const atLeastNone = (count: bigint): bigint => (count < 0n ? 0n : count);

const namespacesUsage = (holdings: readonly Holding[]): readonly NamespaceUsage[] =>
  [...Map.groupBy(holdings, ({ namespace }) => namespace)]
    .map(([namespace, own]) => {
      const ips = [...new Set(own.flatMap((one) => one.ips))];
      const pods = new Set(own.filter(({ isPod }) => isPod).map(({ owner }) => owner)).size;
      const ipv4 = ips.filter((ip) => ipFamily(ip) === 4).length;
      return { namespace, pods, ipv4, ipv6: ips.length - ipv4 };
    })
    .sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
