/**
 * One cluster that the golden texts are made of: two nodes, and a tenant `blue` with a layer-3 or a layer-2 network of id 1.
 * The node has 172.30.0.2 and fd00:30::2 on its gateway bridge; the outside is behind eth0.
 */
import type { LocalSettings } from '../../../agent/model/view.ts';
import { TestCluster } from '../../../agent/testing/cluster.ts';

export const TOPOLOGIES = ['layer3', 'layer2'] as const;
export const MODES = ['shared', 'local'] as const;
export const FAMILIES = ['ipv4', 'ipv6', 'dual'] as const;

export interface Variant {
  readonly topology: (typeof TOPOLOGIES)[number];
  readonly mode: (typeof MODES)[number];
  readonly family: (typeof FAMILIES)[number];
}

export const VARIANTS: readonly Variant[] = TOPOLOGIES.flatMap((topology) =>
  MODES.flatMap((mode) => FAMILIES.map((family) => ({ topology, mode, family }))),
);

export const nameOf = ({ topology, mode, family }: Variant): string => `${topology}-${mode}-${family}`;

/** Without tenants: only the default network. */
export const emptyCluster = (
  { mode, family }: Omit<Variant, 'topology'>,
  local: Partial<LocalSettings> = {},
): TestCluster => {
  const of = (...texts: string[]): string[] => texts.filter((text) => inFamily(text, family));
  const settings = {
    clusterSubnets: of('10.128.0.0/14/23', 'fd00:10:128::/48/64').join(','),
    serviceSubnets: of('172.16.1.0/24', 'fd00:10:96::/112').join(','),
  };
  return new TestCluster('node1', settings, local)
    .node('node1', {
      id: 2,
      transit: ['100.88.0.2/16', 'fd97::2/64'],
      subnets: { default: of('10.128.0.0/23', 'fd00:10:128::/64') },
    })
    .node('node2', {
      id: 3,
      transit: ['100.88.0.3/16', 'fd97::3/64'],
      subnets: { default: of('10.128.2.0/23', 'fd00:10:128:1::/64') },
    })
    .gateway('node1', {
      mode,
      addresses: of('172.30.0.2/24', 'fd00:30::2/64'),
      nextHops: of('172.30.0.1', 'fd00:30::1'),
    })
    .gateway('node2', { mode, mac: '02:00:00:00:00:02', addresses: of('172.30.0.3/24', 'fd00:30::3/64') });
};

/** Adds a tenant's network with an id, and its part for each node. Subnets of tenants are all the same. */
export const addTenant = (
  cluster: TestCluster,
  name: string,
  id: number,
  { topology, family }: Omit<Variant, 'mode'>,
): TestCluster => {
  const of = (...texts: string[]): string[] => texts.filter((text) => inFamily(text, family));
  cluster
    .subnets('node1', name, topology === 'layer3' ? of('10.200.1.0/24', 'fd00:200:0:1::/64') : [])
    .subnets('node2', name, topology === 'layer3' ? of('10.200.2.0/24', 'fd00:200:0:2::/64') : []);
  return cluster.network(name, {
    id,
    topology,
    subnets: topology === 'layer3' ? of('10.200.0.0/16', 'fd00:200::/48') : of('10.200.0.0/16', 'fd00:200::/64'),
    namespace: name,
    nad: 'net',
    tunnelKeys: topology === 'layer2' ? [16_711_683 + id, 16_715_779 + id] : [],
  });
};

export const workedCluster = (variant: Variant, local: Partial<LocalSettings> = {}): TestCluster =>
  addTenant(emptyCluster(variant, local), 'blue', 1, variant);

const inFamily = (text: string, family: Variant['family']): boolean =>
  family === 'dual' || text.includes(':') === (family === 'ipv6');
