/**
 * The networks that documentation and golden texts use: the default network, one layer-3 and one layer-2 network, each on
 * one node, with a second node beside it.
 */
import { TestCluster } from './cluster.ts';

export const WORKED_FAMILIES = ['ipv4', 'ipv6', 'dual'] as const;
export type WorkedFamilies = (typeof WORKED_FAMILIES)[number];

export const WORKED_NETWORKS = ['default', 'layer3', 'layer2'] as const;
export type WorkedNetwork = (typeof WORKED_NETWORKS)[number];

export interface WorkedInput {
  readonly network: WorkedNetwork;
  readonly mode: 'shared' | 'local';
  readonly families: WorkedFamilies;
}

export const workedCluster = ({ network, mode, families }: WorkedInput): TestCluster =>
  network === 'default' ? defaultNetwork(mode, families) : userDefinedNetwork(network, mode, families);

const defaultNetwork = (mode: WorkedInput['mode'], families: WorkedFamilies): TestCluster => {
  const of = chooser(families);
  const subnets = of('10.128.0.0/14', 'fd00:10:128::/48').map(
    (subnet) => `${subnet}/${subnet.includes(':') ? 64 : 23}`,
  );
  return new TestCluster('node1', {
    clusterSubnets: subnets.join(','),
    masqueradeSubnets: '169.254.169.0/29,fd69::/125',
  })
    .node('node1', {
      id: 2,
      transit: of('100.88.0.2/16', 'fd97::2/64'),
      subnets: { default: of('10.128.0.0/23', 'fd00:10:128::/64') },
    })
    .node('node2', {
      id: 3,
      transit: of('100.88.0.3/16', 'fd97::3/64'),
      subnets: { default: of('10.128.2.0/23', 'fd00:10:128:1::/64') },
    })
    .gateway('node1', {
      mode,
      addresses: of('172.16.16.2/24', 'fd00:172::2/64'),
      nextHops: of('172.16.16.1', 'fd00:172::1'),
      hostAddresses: of('172.16.16.2/24', 'fd00:172::2/64').concat(of('192.0.2.7/24', 'fd00:192::7/64')),
    });
};

const userDefinedNetwork = (
  topology: 'layer2' | 'layer3',
  mode: WorkedInput['mode'],
  families: WorkedFamilies,
): TestCluster => {
  const of = chooser(families);
  const parts = (v4: string, v6: string): Record<string, string[]> =>
    topology === 'layer3' ? { isolatednet: of(v4, v6) } : {};
  return new TestCluster('test-node', { masqueradeSubnets: '169.254.169.0/24,fd69::/112' })
    .node('test-node', {
      id: 4,
      transit: of('100.88.0.3/16', 'fd97::3/64'),
      subnets: parts('192.168.1.0/24', 'fd00:192:168:1::/64'),
    })
    .node('other-node', {
      id: 5,
      transit: of('100.88.0.5/16', 'fd97::5/64'),
      subnets: parts('192.168.2.0/24', 'fd00:192:168:2::/64'),
    })
    .gateway('test-node', {
      mode,
      bridge: 'breth0',
      mac: '0a:58:c0:a8:7e:ca',
      addresses: of('192.168.126.202/24', 'fd00:126::ca/64'),
      nextHops: of('192.168.126.1', 'fd00:126::1'),
      hostAddresses: of('192.168.126.202/24', 'fd00:126::ca/64').concat(of('192.0.2.7/24', 'fd00:192::7/64')),
    })
    .network('isolatednet', {
      id: 2,
      topology,
      subnets:
        topology === 'layer3' ? of('192.168.0.0/16', 'fd00:192:168::/48') : of('100.200.0.0/16', '2014:100:200::/64'),
      namespace: 'namespace1',
      nad: 'blue-net',
      tunnelKeys: topology === 'layer2' ? [16_711_685, 16_715_780] : [],
    });
};

const chooser =
  (families: WorkedFamilies) =>
  (v4: string, v6: string): string[] => [...(families === 'ipv6' ? [] : [v4]), ...(families === 'ipv4' ? [] : [v6])];
