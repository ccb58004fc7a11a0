import { expect, it } from 'vitest';
import { parsePort } from '../../../net/ids.ts';
import { TestCluster } from '../../testing/cluster.ts';

const cluster = (...subnets: string[]): TestCluster =>
  new TestCluster('node1').node('node1', { id: 2, subnets: { default: subnets } });

const matches = (it: TestCluster): unknown[] =>
  (it.render().northbound['ACL'] ?? [])
    .filter(({ external_ids: ids }) => (ids as Record<string, string>)['k8s.ovn.org/owner-type'] === 'UDNIsolation')
    .map((row) => [row['direction'], row['action'], row['priority'], row['match']]);

it('only the node may start connections to a locked interface', () => {
  const pg = 'a8747502060113802905';
  expect(matches(cluster('10.1.1.0/24'))).toEqual([
    ['from-lport', 'allow', 1001, `inport == @${pg} && (( arp && arp.tpa == 10.1.1.2 ))`],
    ['to-lport', 'allow', 1001, `outport == @${pg} && (( arp && arp.spa == 10.1.1.2 ))`],
    [
      'to-lport',
      'allow-related',
      1001,
      `outport == @${pg} && eth.src == {0a:58:0a:01:01:02, 0a:58:0a:01:01:01} && !eth.mcast && (( ip4.src == 10.1.1.2 && ip4.dst == 10.1.1.0/24 ))`,
    ],
    ['from-lport', 'drop', 1000, `inport == @${pg}`],
    ['to-lport', 'drop', 1000, `outport == @${pg}`],
  ]);
});

it('does so for both families, and denies everything while the node has no subnet', () => {
  expect(matches(cluster('10.1.1.0/24', 'fd00:1::/64'))).toContainEqual([
    'to-lport',
    'allow-related',
    1001,
    'outport == @a8747502060113802905 && eth.src == {0a:58:0a:01:01:02, 0a:58:0a:01:01:01} && !eth.mcast && (( ip4.src == 10.1.1.2 && ip4.dst == 10.1.1.0/24 ) || ( ip6.src == fd00:1::2 && ip6.dst == fd00:1::/64 ))',
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

it('opens the ports that a pod’s annotation has, on its own port of the switch', () => {
  const it = cluster('10.1.1.0/24').pod('red/a', {
    node: 'node1',
    networks: { default: { ips: ['10.1.1.3/24'], role: 'infrastructure-locked' } },
    openPorts: [
      { protocol: 'tcp', port: parsePort(80) },
      { protocol: 'udp', port: parsePort(53) },
      { protocol: 'icmp' },
    ],
  });
  const { northbound } = it.render();
  const open = (northbound['ACL'] ?? []).filter((row) => JSON.stringify(row).includes('OpenPort-red/a'));
  expect(open).toEqual([
    expect.objectContaining({
      direction: 'from-lport',
      action: 'allow',
      priority: 1001,
      tier: 0,
      match: 'inport == "red_a" && (arp || nd)',
    }),
    expect.objectContaining({
      direction: 'to-lport',
      action: 'allow-related',
      priority: 1001,
      tier: 0,
      match: 'outport == "red_a" && (arp || nd || (tcp.dst == 80 || udp.dst == 53 || icmp))',
    }),
  ]);
  const ofGroups = (northbound['Port_Group'] ?? []).flatMap(({ acls }) => acls as string[]);
  expect(ofGroups.filter((acl) => acl.includes('OpenPort'))).toHaveLength(2);
  it.pod('red/a', { node: 'node1', networks: { default: { ips: ['10.1.1.3/24'], role: 'infrastructure-locked' } } });
  expect(JSON.stringify(it.render())).not.toContain('OpenPort');
});

it('drops what comes to the router as the management port, and not from it', () => {
  const { northbound } = cluster('10.1.1.0/24', 'fd00:1::/64').render();
  const policies = (northbound['Logical_Router_Policy'] ?? []).filter(({ action }) => action === 'drop');
  expect(policies.map(({ priority, match }) => [priority, match])).toEqual([
    [1010, 'inport == {"rtoj-ovn_cluster_router", "rtots-node1"} && ip4.src == 10.1.1.2'],
    [1010, 'inport == {"rtoj-ovn_cluster_router", "rtots-node1"} && ip6.src == fd00:1::2'],
  ]);
});
