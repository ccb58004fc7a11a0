/**
 * How the networks are, and how full. The labels are bounded: a network is named only when it has an id, of which there are
 * 4095, and of the reasons of conditions, which are text that an API server has stored, the most frequent ones are named.
 */
import { Gauge, type Registry } from 'prom-client';
import { cidrFamily } from '../../net/cidr.ts';
import type { NetworkRecord } from '../allocation/network-registry.ts';
import type { SubnetUsage } from '../allocation/port.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import type { ClusterState } from '../state/cluster-state.ts';

export interface NetworkSources {
  /** Undefined until what existed has been read. */
  readonly state: ClusterState | undefined;
  /** UserDefinedNetworks and ClusterUserDefinedNetworks. */
  networks(): Iterable<NetworkFacts>;
}

export const registerNetworkGauges = (registers: Registry[], sources: NetworkSources): void => {
  const records = (): Iterable<NetworkRecord> => sources.state?.registry.networks() ?? [];
  new Gauge({
    name: 'udn_clustermanager_networks',
    help: 'User-defined networks that have an id.',
    labelNames: ['topology', 'role'],
    registers,
    collect() {
      this.reset();
      for (const { network } of records()) this.inc({ topology: network.topology, role: network.role });
    },
  });
  new Gauge({
    name: 'udn_clustermanager_network_conditions',
    help: 'UserDefinedNetworks and ClusterUserDefinedNetworks by their condition Ready.',
    labelNames: ['condition', 'status', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const { status, reason, count } of countReadiness(sources.networks())) {
        this.set({ condition: 'Ready', status, reason }, count);
      }
    },
  });
  new Gauge({
    name: 'udn_clustermanager_network_ready',
    help: '1 while the condition Ready of a network that has an id is True, else 0, with the reason.',
    labelNames: ['network', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const facts of sources.networks()) {
        if (sources.state?.registry.get(facts.networkName) === undefined) continue;
        const { status, reason } = readinessOf(facts);
        this.set({ network: facts.networkName, reason }, status === 'True' ? 1 : 0);
      }
    },
  });
  registerPoolGauges(registers, sources);
};

const registerPoolGauges = (registers: Registry[], sources: NetworkSources): void => {
  const labelNames = ['network', 'family', 'unit'];
  const pools = (): PoolUsage[] => (sources.state === undefined ? [] : poolsOf(sources.state));
  new Gauge({
    name: 'udn_clustermanager_network_pool_used',
    help: 'Addresses that pods hold in a network; of a layer-3 network subnets that nodes hold.',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { labels, used } of pools()) this.set(labels, used);
    },
  });
  new Gauge({
    name: 'udn_clustermanager_network_pool_free',
    help: 'Addresses, or subnets of nodes, that a network can still allocate.',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { labels, free } of pools()) this.set(labels, free);
    },
  });
};

interface PoolUsage {
  readonly labels: { readonly network: string; readonly family: string; readonly unit: string };
  readonly used: number;
  readonly free: number;
}

/** The ranges of one family are one pool: a pod needs an address of any of them. */
const poolsOf = ({ registry, nodes, pods }: ClusterState): PoolUsage[] =>
  [...registry.networks()].flatMap(({ name, network }) => {
    const isLayer3 = network.topology === 'layer3';
    const usage = isLayer3 ? nodes.usageOf(name) : pods.usageOf(name);
    const unit = isLayer3 ? 'node_subnets' : 'addresses';
    return [...Map.groupBy(usage, ({ subnet }) => cidrFamily(subnet))].map(([family, ranges]) => ({
      labels: { network: name, family: `ipv${family}`, unit },
      ...sumOf(ranges),
    }));
  });

const sumOf = (ranges: readonly SubnetUsage[]): Pick<PoolUsage, 'used' | 'free'> => ({
  used: ranges.reduce((sum, { used }) => sum + used, 0),
  // A /64 has more than a number counts exactly; how many digits it has is what matters of it.
  free: Number(ranges.reduce((sum, { free }) => sum + free, 0n)),
});

interface Readiness {
  readonly status: string;
  readonly reason: string;
}

const readinessOf = ({ conditions }: NetworkFacts): Readiness => {
  const { status, reason } = conditions.find(({ type }) => type === 'Ready') ?? UNREPORTED;
  return { status, reason };
};

const UNREPORTED: Readiness = { status: 'Unknown', reason: 'Unreported' };

const MOST_REASONS = 30;
const OTHER = 'Other';

/** What is beyond the most frequent reasons is counted as `Other`. */
export const countReadiness = (networks: Iterable<NetworkFacts>): (Readiness & { readonly count: number })[] => {
  const counts = new Map<string, Readiness & { readonly count: number }>();
  const add = ({ status, reason }: Readiness, count: number): void => {
    const key = `${status}/${reason}`;
    counts.set(key, { status, reason, count: (counts.get(key)?.count ?? 0) + count });
  };
  for (const facts of networks) add(readinessOf(facts), 1);
  const all = [...counts.values()].toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
  counts.clear();
  for (const [i, one] of all.entries()) add(i < MOST_REASONS ? one : { ...one, reason: OTHER }, one.count);
  return [...counts.values()];
};
