import { describe, expect, it } from 'vitest';
import { TestCluster } from '../../../testing/cluster.ts';

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', {
      id: 2,
      transit: ['100.88.0.2/16', 'fd97::2/64'],
      subnets: { blue: ['10.244.2.0/24', 'fd00:10:2::/64'], default: ['10.128.0.0/23'] },
    })
    .node('node2', {
      id: 3,
      transit: ['100.88.0.3/16', 'fd97::3/64'],
      subnets: { blue: ['10.244.3.0/24', 'fd00:10:3::/64'], default: ['10.128.2.0/23'] },
    })
    .network('blue', {
      id: 1,
      topology: 'layer3',
      subnets: ['10.244.0.0/16', 'fd00:10::/32'],
      namespace: 'blue',
      nad: 'net',
    });

const rowsNamed = (name: string): unknown =>
  Object.values(cluster().render().northbound)
    .flat()
    .find((row) => row['name'] === name);

describe('a primary layer-3 network', () => {
  it('has a cluster router and a transit switch in each zone', () => {
    expect(rowsNamed('blue_ovn_cluster_router')).toEqual({
      name: 'blue_ovn_cluster_router',
      copp: 'Copp/ovnkube-default',
      options: { always_learn_from_arp_request: 'false' },
      external_ids: {
        'k8s-cluster-router': 'yes',
        'k8s.ovn.org/network': 'blue',
        'k8s.ovn.org/topology': 'layer3',
        'ovn-udn/key': 'Logical_Router/blue_ovn_cluster_router',
      },
      nat: ['NAT/blue_ovn_cluster_router/snat/10.244.2.0/24', 'NAT/blue_ovn_cluster_router/snat/fd00:10:2::/64'],
      ports: ['Logical_Router_Port/blue_rtots-node1', 'Logical_Router_Port/rtos-blue_node1'],
      static_routes: [
        'Logical_Router_Static_Route/blue_ovn_cluster_router/dst-ip/10.244.3.0/24',
        'Logical_Router_Static_Route/blue_ovn_cluster_router/dst-ip/100.65.0.3/32',
        'Logical_Router_Static_Route/blue_ovn_cluster_router/dst-ip/fd00:10:3::/64',
        'Logical_Router_Static_Route/blue_ovn_cluster_router/dst-ip/fd99::3/128',
      ],
    });
    expect(rowsNamed('blue_transit_switch')).toEqual({
      name: 'blue_transit_switch',
      other_config: {
        'interconn-ts': 'blue_transit_switch',
        'requested-tnl-key': '16711684',
        mcast_snoop: 'true',
        mcast_querier: 'false',
        mcast_flood_unregistered: 'true',
      },
      external_ids: {
        'k8s.ovn.org/network': 'blue',
        'k8s.ovn.org/topology': 'layer3',
        'k8s.ovn.org/role': 'primary',
        'ovn-udn/key': 'Logical_Switch/blue_transit_switch',
      },
      ports: ['Logical_Switch_Port/blue_tstor-node1', 'Logical_Switch_Port/blue_tstor-node2'],
    });
  });

  it('has a switch with a gateway on this node', () => {
    expect(rowsNamed('blue_node1')).toMatchObject({
      other_config: { subnet: '10.244.2.0/24', ipv6_prefix: 'fd00:10:2::' },
      ports: ['Logical_Switch_Port/k8s-blue_node1', 'Logical_Switch_Port/stor-blue_node1'],
    });
    expect(rowsNamed('rtos-blue_node1')).toEqual({
      name: 'rtos-blue_node1',
      mac: '0a:58:0a:f4:02:01',
      networks: ['10.244.2.1/24', 'fd00:10:2::1/64'],
      options: { gateway_mtu: '1400' },
      gateway_chassis: ['Gateway_Chassis/rtos-blue_node1-chassis-node1'],
      external_ids: { 'ovn-udn/key': 'Logical_Router_Port/rtos-blue_node1' },
    });
    expect(rowsNamed('blue_rtots-node1')).toMatchObject({
      mac: '0a:58:64:58:00:02',
      networks: ['100.88.0.2/16', 'fd97::2/64'],
      options: { mcast_flood: 'true' },
    });
    expect(rowsNamed('blue_tstor-node1')).toMatchObject({
      type: 'router',
      addresses: ['router'],
      options: { 'router-port': 'blue_rtots-node1', 'requested-tnl-key': '2' },
    });
  });

  it('reaches another node through its remote port and routes of both families', () => {
    expect(rowsNamed('blue_tstor-node2')).toMatchObject({
      type: 'remote',
      addresses: ['0a:58:64:58:00:03 100.88.0.3/16 fd97::3/64'],
      options: { 'requested-tnl-key': '3', 'requested-chassis': 'chassis-node2' },
      external_ids: { node: 'node2' },
    });
    const routes = cluster().render().northbound['Logical_Router_Static_Route'];
    expect(routes).toContainEqual({
      ip_prefix: 'fd00:10:3::/64',
      nexthop: 'fd97::3',
      external_ids: {
        'ic-node': 'node2',
        'k8s.ovn.org/network': 'blue',
        'ovn-udn/key': 'Logical_Router_Static_Route/blue_ovn_cluster_router/dst-ip/fd00:10:3::/64',
      },
    });
  });

  it('has nothing of a node that has no id, chassis or subnet yet', () => {
    const text = (change: (it: TestCluster) => TestCluster): string =>
      JSON.stringify(change(cluster()).render().northbound);
    expect(
      text((it) =>
        it.node('node3', {
          id: 4,
          transit: ['100.88.0.4/16'],
          withoutChassis: true,
          subnets: { blue: ['10.244.4.0/24'] },
        }),
      ),
    ).not.toContain('node3');
    expect(text((it) => it.node('node3', { id: 4, transit: ['100.88.0.4/16'] }))).not.toContain('node3');
    expect(text((it) => it.node('node3', { subnets: { blue: ['10.244.4.0/24'] } }))).not.toContain('node3');
  });
});

it('the default network has the same rows without prefix and network ids', () => {
  expect(rowsNamed('ovn_cluster_router')).toMatchObject({
    external_ids: { 'k8s-cluster-router': 'yes' },
    ports: ['Logical_Router_Port/rtos-node1', 'Logical_Router_Port/rtots-node1'],
  });
  expect(rowsNamed('transit_switch')).toMatchObject({ other_config: { 'requested-tnl-key': '16711683' } });
  expect(rowsNamed('node1')).toEqual({
    name: 'node1',
    other_config: { subnet: '10.128.0.0/23' },
    external_ids: { 'ovn-udn/key': 'Logical_Switch/node1' },
    load_balancer_group: ['Load_Balancer_Group/clusterLBGroup'],
    acls: [
      'ACL/default-network-controller:NetpolNode:node1:10.128.0.2',
      'ACL/default-network-controller:ServerAnswers:node1',
    ],
    ports: ['Logical_Switch_Port/k8s-node1', 'Logical_Switch_Port/stor-node1'],
  });
});

it('a node without a part of the network has no row of it, and gets them all with its part', () => {
  const it = cluster();
  const whole = it.render();
  it.facts.set('nodeSubnets', 'node1/blue', undefined);
  expect(JSON.stringify(it.render().northbound)).not.toContain('blue');
  it.subnets('node1', 'blue', ['10.244.2.0/24', 'fd00:10:2::/64']);
  expect(it.render()).toEqual(whole);
});

it('only the default network answers for addresses elsewhere', () => {
  const options = (name: string) => (rowsNamed(name) as { options: Record<string, string> }).options;
  expect(options('stor-node1')).toEqual({
    'router-port': 'rtos-node1',
    arp_proxy: '0a:58:a9:fe:01:01 169.254.1.1 fe80::1 10.128.0.0/14',
  });
  expect(options('stor-blue_node1')).toEqual({ 'router-port': 'rtos-blue_node1' });
});

it('a secondary network has its switches and its router, and nothing that leads out of it', () => {
  const it = cluster()
    .network('wide', {
      ...{ id: 9, topology: 'layer3', role: 'secondary', subnets: ['10.91.0.0/16'], namespace: 'ns', nad: 'wide' },
    })
    .subnets('node1', 'wide', ['10.91.1.0/24'])
    .subnets('node2', 'wide', ['10.91.2.0/24']);
  const { northbound, openvswitch, openflow, links } = it.render();
  const named = Object.entries(northbound).flatMap(([table, rows]) =>
    rows.flatMap(({ name }) => (/(^|[_-])wide_/.test(String(name)) ? `${table}/${name}` : [])),
  );
  expect(named.toSorted()).toEqual([
    'Gateway_Chassis/rtos-wide_node1-chassis-node1',
    'Logical_Router/wide_ovn_cluster_router',
    'Logical_Router_Port/rtos-wide_node1',
    'Logical_Router_Port/wide_rtots-node1',
    'Logical_Switch/wide_node1',
    'Logical_Switch/wide_transit_switch',
    'Logical_Switch_Port/stor-wide_node1',
    'Logical_Switch_Port/wide_tstor-node1',
    'Logical_Switch_Port/wide_tstor-node2',
  ]);
  const routes = northbound['Logical_Router_Static_Route']?.filter(({ external_ids: ids }) =>
    JSON.stringify(ids).includes('"wide"'),
  );
  expect(routes).toMatchObject([{ ip_prefix: '10.91.2.0/24', nexthop: '100.88.0.3' }]);
  expect(northbound['Logical_Switch']?.find(({ name }) => name === 'wide_transit_switch')).toMatchObject({
    external_ids: { 'k8s.ovn.org/role': 'secondary' },
    other_config: { 'requested-tnl-key': String(16_711_683 + 9) },
  });
  expect(JSON.stringify([openvswitch, openflow, links])).not.toContain('wide');
});
