import { describe, expect, it } from 'vitest';
import { TestCluster } from '../../testing/cluster.ts';

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], 'namespace1_blue-net': ['192.168.1.0/24'] } })
    .node('node2', { id: 3 })
    .network('namespace1_blue-net', {
      id: 2,
      topology: 'layer3',
      subnets: ['192.168.0.0/16'],
      namespace: 'namespace1',
      nad: 'blue-net',
    })
    .network('green_net', {
      id: 3,
      topology: 'layer2',
      subnets: ['100.200.0.0/16', 'fd00:200::/64'],
      namespace: 'green',
      nad: 'net',
      tunnelKeys: [16_711_686, 16_715_779],
    });

const port = (it: TestCluster, name: string): unknown =>
  it.render().northbound['Logical_Switch_Port']?.find((row) => row['name'] === name);

describe('pods of this node', () => {
  it('have a port on the default network', () => {
    const it = cluster().pod('ns/pod', { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } } });
    expect(port(it, 'ns_pod')).toEqual({
      name: 'ns_pod',
      type: '',
      addresses: ['0a:58:0a:80:00:03 10.128.0.3'],
      port_security: ['0a:58:0a:80:00:03 10.128.0.3'],
      options: { 'requested-chassis': 'chassis-node1', 'iface-id-ver': 'uid-pod' },
      external_ids: { namespace: 'ns', pod: 'true', 'ovn-udn/key': 'Logical_Switch_Port/ns_pod' },
    });
  });

  it('have a port on their primary layer-3 network', () => {
    const it = cluster().pod('namespace1/my-pod', {
      node: 'node1',
      networks: { 'namespace1/blue-net': { ips: ['192.168.1.3/24'], role: 'primary' } },
    });
    expect(port(it, 'namespace1.blue.net_namespace1_my-pod')).toMatchObject({
      addresses: ['0a:58:c0:a8:01:03 192.168.1.3'],
      external_ids: {
        namespace: 'namespace1',
        pod: 'true',
        'k8s.ovn.org/network': 'namespace1_blue-net',
        'k8s.ovn.org/nad': 'namespace1/blue-net',
        'k8s.ovn.org/topology': 'layer3',
      },
    });
    expect(it.render().northbound['Logical_Switch']).toContainEqual(
      expect.objectContaining({
        name: 'namespace1_blue.net_node1',
        ports: expect.arrayContaining(['Logical_Switch_Port/namespace1.blue.net_namespace1_my-pod']),
      }),
    );
  });

  it('have a port with a key on their primary layer-2 network, and none without the key', () => {
    const withKey = cluster().pod('green/a', {
      node: 'node1',
      networks: { 'green/net': { ips: ['100.200.0.3/16', 'fd00:200::3/64'], tunnelId: 10, role: 'primary' } },
    });
    expect(port(withKey, 'green.net_green_a')).toMatchObject({
      type: '',
      addresses: ['0a:58:64:c8:00:03 100.200.0.3 fd00:200::3'],
      options: { 'requested-tnl-key': '10', 'requested-chassis': 'chassis-node1' },
    });
    const withoutKey = cluster().pod('green/a', {
      node: 'node1',
      networks: { 'green/net': { ips: ['100.200.0.3/16'] } },
    });
    expect(port(withoutKey, 'green.net_green_a')).toBeUndefined();
  });

  it('have none when they are finished', () => {
    const it = cluster().pod('ns/pod', {
      node: 'node1',
      finished: true,
      networks: { default: { ips: ['10.128.0.3/23'] } },
    });
    expect(port(it, 'ns_pod')).toBeUndefined();
  });
});

describe('pods of other nodes', () => {
  it('have a remote port on layer-2 networks only', () => {
    const it = cluster().pod('green/b', {
      node: 'node2',
      networks: {
        default: { ips: ['10.128.2.3/23'], role: 'infrastructure-locked' },
        'green/net': { ips: ['100.200.0.4/16'], tunnelId: 11, role: 'primary' },
      },
    });
    expect(port(it, 'green.net_green_b')).toMatchObject({
      type: 'remote',
      addresses: ['0a:58:64:c8:00:04 100.200.0.4'],
      options: { 'requested-tnl-key': '11', 'requested-chassis': 'chassis-node2' },
    });
    expect(port(it, 'green_b')).toBeUndefined();
    expect(it.render().northbound['Logical_Switch']).toContainEqual(
      expect.objectContaining({
        name: 'green_net_ovn_layer2_switch',
        ports: expect.arrayContaining(['Logical_Switch_Port/green.net_green_b']),
      }),
    );
  });

  it('move to another chassis when their node gets another one', () => {
    const it = cluster().pod('green/b', {
      node: 'node2',
      networks: { 'green/net': { ips: ['100.200.0.4/16'], tunnelId: 11 } },
    });
    it.render();
    it.node('node2', { id: 3, withoutChassis: true });
    expect(port(it, 'green.net_green_b')).toBeUndefined();
  });
});

describe('ports of secondary networks', () => {
  const secondary = (): TestCluster =>
    cluster()
      .network('green_flat', {
        ...{ id: 4, topology: 'layer2', role: 'secondary', subnets: ['10.90.0.0/24'] },
        ...{ namespace: 'green', nad: 'flat' },
      })
      .network('green_bare', {
        ...{ id: 5, topology: 'layer2', role: 'secondary', subnets: [], namespace: 'green', nad: 'bare' },
      });

  it('have a key on layer 2, here and of other nodes', () => {
    const it = secondary()
      .pod('green/a', {
        node: 'node1',
        networks: { 'green/flat': { ips: ['10.90.0.1/24'], tunnelId: 1, role: 'secondary' } },
      })
      .pod('green/b', {
        node: 'node2',
        networks: { 'green/flat/1': { ips: ['10.90.0.2/24'], tunnelId: 2, role: 'secondary' } },
      });
    expect(port(it, 'green.flat_green_a')).toMatchObject({
      type: '',
      port_security: ['0a:58:0a:5a:00:01 10.90.0.1'],
      options: { 'requested-tnl-key': '1' },
      external_ids: { 'k8s.ovn.org/nad': 'green/flat', 'k8s.ovn.org/network': 'green_flat' },
    });
    expect(port(it, 'green.flat.1_green_b')).toMatchObject({ type: 'remote', options: { 'requested-tnl-key': '2' } });
    expect(it.render().northbound['Logical_Switch']).toContainEqual(
      expect.objectContaining({
        name: 'green_flat_ovn_layer2_switch',
        other_config: expect.objectContaining({ 'requested-tnl-key': String(16_711_683 + 4) }),
        ports: ['Logical_Switch_Port/green.flat.1_green_b', 'Logical_Switch_Port/green.flat_green_a'],
      }),
    );
  });

  it('have a MAC alone on a network without IPAM', () => {
    const it = secondary().pod('green/a', { node: 'node1', networks: { 'green/bare': { ips: [], tunnelId: 7 } } });
    expect(port(it, 'green.bare_green_a')).toMatchObject({
      addresses: ['0a:58:00:00:00:01'],
      port_security: ['0a:58:00:00:00:01'],
    });
  });

  it('are not under policies, of which the pod may have some on its primary network', () => {
    const it = secondary().pod('green/a', {
      node: 'node1',
      networks: { 'green/flat': { ips: ['10.90.0.1/24'], tunnelId: 1, role: 'secondary' } },
    });
    it.facts.set('podPolicy', 'green/a', {
      network: 'green_net',
      denyGroup: 'green_net',
      isolated: ['Ingress'],
      rules: [],
    });
    expect(JSON.stringify(it.render().northbound['Port_Group'] ?? [])).not.toContain('green.flat_green_a');
  });
});
