/** What gateways are without something that they need. */
import { describe, expect, it } from 'vitest';
import { TestCluster } from '../../testing/cluster.ts';
import { ids, row, rows } from '../../testing/northbound-rows.ts';
import { type WorkedInput, workedCluster } from '../../testing/worked-networks.ts';

const worked = (change: Partial<WorkedInput> = {}): TestCluster =>
  workedCluster({ network: 'layer3', mode: 'shared', families: 'ipv4', ...change });

describe('what is missing', () => {
  const gatewayRows = (it: TestCluster): string =>
    JSON.stringify(it.render().northbound).match(/GR_[a-z]*_?test-node|isolatednet_join|ext_isolatednet/)?.[0] ??
    'none';

  it('without a gateway there are no rows of one, but a management port', () => {
    const it = worked();
    it.facts.set('gateway', 'test-node', undefined);
    expect(gatewayRows(it)).toBe('none');
    expect(row(it, 'Logical_Switch_Port', 'k8s-isolatednet_test-node')).toBeDefined();
    expect(it.render().diagnostics).toEqual([]);
  });

  it('without an id of the node or its chassis, too', () => {
    expect(gatewayRows(worked().node('test-node', { id: 4, withoutChassis: true }))).toBe('none');
    expect(gatewayRows(worked().node('test-node'))).toBe('none');
  });

  it('of a network that is not desired here there is nothing at all', () => {
    for (const topology of ['layer3', 'layer2'] as const) {
      const it = new TestCluster('n1', {}, { networkRendering: 'on-demand' })
        .node('n1', { id: 2, transit: ['100.88.0.2/16'], subnets: { red: ['10.1.1.0/24'] } })
        .node('n2', { id: 3, transit: ['100.88.0.3/16'], subnets: { red: ['10.1.2.0/24'] } })
        .gateway('n1', { addresses: ['192.0.2.2/24'] })
        .network('red', { id: 1, topology, subnets: ['10.1.0.0/16'], namespace: 'red', nad: 'net', tunnelKeys: [5, 6] })
        .pod('red/far', { node: 'n2', networks: { 'red/net': { ips: ['10.1.0.9/16'], tunnelId: 11 } } });
      expect(JSON.stringify(it.render().northbound)).not.toContain('red');
      it.facts.set('networkInUse', 'red', true);
      expect(JSON.stringify(it.render().northbound)).toContain('GR_red_n1');
    }
  });

  it('a layer-2 network without the second key has its switch and management port, and no router', () => {
    const it = worked({ network: 'layer2' }).network('isolatednet', {
      id: 2,
      topology: 'layer2',
      subnets: ['100.200.0.0/16'],
      namespace: 'namespace1',
      nad: 'blue-net',
      tunnelKeys: [16_711_685],
    });
    expect(JSON.stringify(rows(it, 'Logical_Router'))).not.toContain('isolatednet');
    expect(row(it, 'Logical_Switch', 'isolatednet_ovn_layer2_switch')?.['ports']).toEqual([
      'Logical_Switch_Port/k8s-isolatednet_test-node',
    ]);
  });
});

describe('what cannot be', () => {
  const messages = (it: TestCluster) => it.render().diagnostics.map(({ object, message }) => `${object}: ${message}`);
  const small = (settings: Record<string, string>, id = 2) =>
    new TestCluster('n1', settings)
      .node('n1', { id: 9, transit: ['100.88.0.9/16'], subnets: { red: ['10.1.1.0/24'] } })
      .gateway('n1', { addresses: ['192.0.2.2/24'] })
      .network('red', { id, topology: 'layer3', subnets: ['10.1.0.0/16'], namespace: 'red', nad: 'net' });

  it('the network gets a diagnostic: no masquerade address for its id', () => {
    const it = small({ masqueradeSubnets: '169.254.169.0/29' }, 9);
    expect(messages(it)).toEqual([
      'Network/red: this node has no gateway for it: the masquerade subnets are too small for network id 9',
      'Network/red: this node has no management port for it: the masquerade subnets are too small for network id 9',
    ]);
    expect(rows(it, 'Static_MAC_Binding')).toEqual([]);
  });

  it('the network gets a diagnostic: no join address for the node’s id', () => {
    expect(messages(small({ udnJoinSubnets: '100.65.0.0/29' }))).toEqual([
      'Network/red: this node has no gateway for it: the join subnets 100.65.0.0/29 have no address for this node',
    ]);
  });

  it('the network gets a diagnostic: no transit addresses for the node’s id', () => {
    const it = new TestCluster('n1', { transitSubnets: '100.88.0.0/28' })
      .node('n1', { id: 9 })
      .gateway('n1', { addresses: ['192.0.2.2/24'] })
      .network('red', {
        id: 1,
        topology: 'layer2',
        subnets: ['10.1.0.0/16'],
        namespace: 'red',
        nad: 'net',
        tunnelKeys: [5, 6],
      });
    expect(messages(it)).toEqual([
      'Network/red: this node has no gateway for it: the transit subnets 100.88.0.0/28 have no addresses for this node',
    ]);
  });

  it('the network gets a diagnostic: a gateway of another family', () => {
    const it = worked({ families: 'ipv6' }).gateway('test-node', { addresses: ['192.0.2.2/24'] });
    expect(messages(it)).toEqual([
      'Network/isolatednet: this node has no gateway for it: the gateway has no address in any IP family of the network',
    ]);
  });

  it('a family that the gateway has not stays inside, the other goes out', () => {
    const it = worked({ families: 'dual' }).gateway('test-node', {
      addresses: ['192.168.126.202/24'],
      nextHops: ['192.168.126.1'],
    });
    const outside = rows(it, 'NAT').filter((nat) => ids(nat)['ovn-udn/key']?.startsWith('NAT/GR_isolatednet'));
    expect(outside.map((nat) => nat['external_ip'])).toEqual(['169.254.169.13', '169.254.169.13']);
    expect(row(it, 'Logical_Router_Port', 'rtoj-GR_isolatednet_test-node')?.['networks']).toEqual([
      '100.65.0.4/16',
      'fd99::4/64',
    ]);
    expect(messages(it)).toEqual([]);
  });
});
