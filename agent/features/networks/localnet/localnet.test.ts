import { describe, expect, it } from 'vitest';
import { emptyCluster, type Variant } from '../../../../test/unit/golden/worked-cluster.ts';
import { LOCAL } from '../../../model/facts.ts';
import type { NetworkInput, TestCluster } from '../../../testing/cluster.ts';
import { vlanTag } from '../../shared/ovn/port-rows.ts';

const DUAL: Omit<Variant, 'topology'> = { mode: 'shared', family: 'dual' };
const NETWORK: NetworkInput = {
  ...{ id: 7, topology: 'localnet', role: 'secondary', namespace: 'red', nad: 'lan' },
  subnets: ['10.30.0.0/24', 'fd00:30:1::/64'],
  physical: { name: 'dc', vlanId: 300 },
};
const HERE = { node: 'node1', selects: 'lan', networks: { 'red/lan': { ips: ['10.30.0.5/24', 'fd00:30:1::5/64'] } } };

const withLocalnet = (input: Partial<NetworkInput> = {}): TestCluster =>
  emptyCluster(DUAL)
    .namespace('red')
    .network('red_lan', { ...NETWORK, ...input })
    .mapped('dc', 'br-dc')
    .pod('red/a', HERE);

const rowsOf = (cluster: TestCluster, table: string) =>
  (cluster.render().northbound[table] ?? []).filter(({ name }) => String(name).startsWith('red'));

describe('a localnet', () => {
  it('is a switch with a port to the physical network, and nothing else', () => {
    const cluster = withLocalnet();
    expect(rowsOf(cluster, 'Logical_Switch')).toMatchObject([
      {
        name: 'red_lan_ovn_localnet_switch',
        other_config: { subnet: '10.30.0.0/24', ipv6_prefix: 'fd00:30:1::' },
        external_ids: {
          'k8s.ovn.org/network': 'red_lan',
          'k8s.ovn.org/role': 'secondary',
          'k8s.ovn.org/topology': 'localnet',
        },
      },
    ]);
    const { other_config: config = {} } = rowsOf(cluster, 'Logical_Switch')[0] ?? {};
    expect(Object.keys(config as object).sort()).toEqual(['ipv6_prefix', 'subnet']);
    const port = rowsOf(cluster, 'Logical_Switch_Port').find(({ type }) => type === 'localnet');
    expect(port).toMatchObject({
      name: 'red_lan_ovn_localnet_port',
      addresses: ['unknown'],
      options: { network_name: 'dc' },
      tag: 300,
      tag_request: 300,
    });
    for (const table of ['Logical_Router', 'Logical_Router_Port', 'Load_Balancer_Group', 'NAT'])
      expect(rowsOf(cluster, table)).toEqual([]);
  });

  it('has no tag where it has no VLAN, and wants none that ovn-northd has once made of a request', () => {
    const cluster = withLocalnet({ physical: { name: 'dc' } });
    const port = rowsOf(cluster, 'Logical_Switch_Port').find(({ type }) => type === 'localnet');
    expect(port).not.toHaveProperty('tag_request');
    expect(port).not.toHaveProperty('tag');
    // Both are there and empty: a column that is not there would be left as it is.
    expect(Object.entries(vlanTag(undefined))).toEqual([
      ['tag_request', undefined],
      ['tag', undefined],
    ]);
  });

  it('has ports of the pods of this node alone, with their MAC and addresses, and no key', () => {
    const cluster = withLocalnet().pod('red/far', { ...HERE, node: 'node2' });
    const ports = rowsOf(cluster, 'Logical_Switch_Port').filter(({ type }) => type !== 'localnet');
    expect(ports.map(({ name }) => name)).toEqual(['red.lan_red_a']);
    expect(ports[0]?.['port_security']).toEqual([expect.stringMatching(/^0a:58:\S+ 10\.30\.0\.5 fd00:30:1::5$/)]);
    expect(ports[0]?.['options']).not.toHaveProperty('requested-tnl-key');
  });

  it('may have packets that fit no tunnel: none goes through one', () => {
    const cluster = withLocalnet();
    cluster.facts.set('tunnelMtu', LOCAL, 1300);
    const { diagnostics } = cluster.render();
    expect(diagnostics.filter(({ object }) => object === 'Network/red_lan')).toEqual([]);
  });

  it('binds the MAC alone without IPAM', () => {
    const cluster = withLocalnet({ subnets: [] }).pod('red/a', { ...HERE, networks: { 'red/lan': { ips: [] } } });
    const [port] = rowsOf(cluster, 'Logical_Switch_Port').filter(({ type }) => type !== 'localnet');
    expect(port?.['port_security']).toEqual(['0a:58:00:00:00:01']);
  });

  it('says where it has no bridge, keeps its rows, and says so no more once it has one', () => {
    const cluster = withLocalnet().mapped('dc', undefined);
    const said = () => cluster.render().diagnostics.filter(({ cause }) => cause === 'physical-network-unmapped');
    expect(said()).toEqual([
      {
        object: 'Network/red_lan',
        severity: 'warning',
        cause: 'physical-network-unmapped',
        message:
          'network red_lan is not on node node1: ovn-bridge-mappings of its Open vSwitch has no bridge for physical network dc',
      },
    ]);
    expect(rowsOf(cluster, 'Logical_Switch')).toHaveLength(1);
    cluster.mapped('dc', 'br-dc');
    expect(said()).toEqual([]);
  });
});
