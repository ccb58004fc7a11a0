import { expect, it } from 'vitest';
import { TestCluster } from '../../testing/cluster.ts';

const cluster = (...subnets: string[]): TestCluster =>
  new TestCluster('node1').node('node1', { id: 2, subnets: { default: subnets } });

const matches = (it: TestCluster): unknown[] =>
  (it.render().northbound['ACL'] ?? []).map((row) => [row['direction'], row['action'], row['priority'], row['match']]);

it('only the node may start connections to a locked interface', () => {
  const pg = 'a8747502060113802905';
  expect(matches(cluster('10.1.1.0/24'))).toEqual([
    ['from-lport', 'allow', 1001, `inport == @${pg} && (( arp && arp.tpa == 10.1.1.2 ))`],
    ['to-lport', 'allow', 1001, `outport == @${pg} && (( arp && arp.spa == 10.1.1.2 ))`],
    ['to-lport', 'allow-related', 1001, `outport == @${pg} && (ip4.src==10.1.1.2)`],
    ['from-lport', 'drop', 1000, `inport == @${pg}`],
    ['to-lport', 'drop', 1000, `outport == @${pg}`],
  ]);
});

it('does so for both families, and denies everything while the node has no subnet', () => {
  expect(matches(cluster('10.1.1.0/24', 'fd00:1::/64'))).toContainEqual([
    'to-lport',
    'allow-related',
    1001,
    'outport == @a8747502060113802905 && (ip4.src==10.1.1.2 || ip6.src==fd00:1::2)',
  ]);
  expect(matches(new TestCluster('node1')).map((row) => (row as string[])[1])).toEqual(['drop', 'drop']);
});

it('locks the default interface of pods with a primary network of this node, and of no others', () => {
  const it = cluster('10.1.1.0/24')
    .pod('red/a', { node: 'node1', networks: { default: { ips: ['10.1.1.3/24'], role: 'infrastructure-locked' } } })
    .pod('ns/b', { node: 'node1', networks: { default: { ips: ['10.1.1.4/24'], role: 'primary' } } })
    .pod('red/c', { node: 'node2', networks: { default: { ips: ['10.1.2.3/24'], role: 'infrastructure-locked' } } });
  expect(it.render().northbound['Port_Group']).toEqual([
    expect.objectContaining({ name: 'a8747502060113802905', ports: ['Logical_Switch_Port/red_a'] }),
  ]);
});
