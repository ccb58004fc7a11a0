/** What the golden texts do not say: what changes what, what is missing when, and what must not be mixed up. Over 300 lines: a case of each row. */
import { describe, expect, it } from 'vitest';
import { parseCidr } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import type { DocumentRow } from '../../render/document.ts';
import type { TestCluster } from '../../testing/cluster.ts';
import { ids, row, rows } from '../../testing/northbound-rows.ts';
import { type WorkedInput, workedCluster } from '../../testing/worked-networks.ts';

const worked = (change: Partial<WorkedInput> = {}): TestCluster =>
  workedCluster({ network: 'layer3', mode: 'shared', families: 'ipv4', ...change });

const options = (one: DocumentRow | undefined): Record<string, string> => (one?.['options'] ?? {}) as never;

/** Owners of fragments that were rendered because of `change`. */
const renderedBy = (it: TestCluster, change: (it: TestCluster) => void): string[] => {
  it.render();
  it.flushes.length = 0;
  change(it);
  it.render();
  return it.flushes.flat();
};

describe('names', () => {
  it('have the network’s prefix behind the kind, but on the way to the transit switch before it', () => {
    const text = JSON.stringify(worked().render().northbound);
    for (const name of ['isolatednet_rtots-test-node', 'isolatednet_tstor-test-node'])
      expect(text).toContain(`"${name}"`);
    for (const name of ['rtoe-GR_isolatednet_test-node', 'GR_isolatednet_test-node', 'ext_isolatednet_test-node']) {
      expect(text).toContain(`"${name}"`);
    }
  });

  it('have dots for dashes and slashes in the network’s name, and the bridge’s port has the bridge before it', () => {
    const it = worked()
      .network('ns-a_my-net', { id: 3, topology: 'layer3', subnets: ['10.5.0.0/16'], namespace: 'ns-a', nad: 'my-net' })
      .subnets('test-node', 'ns-a_my-net', ['10.5.1.0/24']);
    expect(row(it, 'Logical_Router', 'GR_ns.a_my.net_test-node')).toBeDefined();
    expect(row(it, 'Logical_Switch_Port', 'breth0_ns.a_my.net_test-node')).toBeDefined();
    expect(row(it, 'Logical_Switch_Port', 'k8s-ns.a_my.net_test-node')).toBeDefined();
  });
});

describe('only the default network', () => {
  const it3 = worked();
  const gateway = (it: TestCluster, name: string): DocumentRow | undefined => row(it, 'Logical_Router', name);

  it('shares the conntrack zone of the host and announces its addresses', () => {
    const it = worked({ network: 'default' });
    expect(options(gateway(it, 'GR_node1'))).toMatchObject({ 'snat-ct-zone': '0' });
    expect(options(gateway(it, 'GR_node1'))).not.toHaveProperty('disable_garp_rarp');
    expect(options(row(it, 'Logical_Switch_Port', 'etor-GR_node1'))).toHaveProperty('nat-addresses', 'router');
    const own = gateway(it3, 'GR_isolatednet_test-node');
    expect(options(own)).toMatchObject({ disable_garp_rarp: 'true' });
    expect(options(own)).not.toHaveProperty('snat-ct-zone');
    expect(options(row(it3, 'Logical_Switch_Port', 'etor-GR_isolatednet_test-node'))).toEqual({
      'router-port': 'rtoe-GR_isolatednet_test-node',
    });
  });

  it('leaves with the node’s address; all others leave with one of their own, which is on the external port', () => {
    const externals = (it: TestCluster, router: string) =>
      rows(it, 'NAT')
        .filter((nat) => ids(nat)['ovn-udn/key']?.startsWith(`NAT/${router}/`))
        .map((nat) => nat['external_ip']);
    expect(externals(worked({ network: 'default' }), 'GR_node1')).toEqual(['172.16.16.2', '172.16.16.2']);
    expect(externals(it3, 'GR_isolatednet_test-node')).toEqual(['169.254.169.13', '169.254.169.13']);
    expect(row(it3, 'Logical_Router_Port', 'rtoe-GR_isolatednet_test-node')?.['networks']).toEqual([
      '169.254.169.13/32',
      '192.168.126.202/24',
    ]);
    expect(ids(gateway(it3, 'GR_isolatednet_test-node'))['physical_ips']).toBe('192.168.126.202,169.254.169.13');
  });

  it('knows all addresses of the node, in shared mode; others know the gateway’s and their masquerade address', () => {
    const destinations = (change: Partial<WorkedInput>) =>
      rows(worked(change), 'Logical_Router_Policy').flatMap(
        ({ action, match }) => (action === 'reroute' && /dst == (\S+)/.exec(`${match}`)?.[1]) || [],
      );
    expect(destinations({ network: 'default' })).toEqual(['172.16.16.2', '192.0.2.7']);
    expect(destinations({ network: 'default', mode: 'local' })).toEqual(['172.16.16.2']);
    expect(destinations({ network: 'layer3' })).toEqual(['169.254.169.13', '192.168.126.202']);
    expect(destinations({ network: 'layer3', mode: 'local' })).toEqual(['169.254.169.13', '192.168.126.202']);
    expect(destinations({ network: 'layer2' })).toEqual(['192.168.126.202']);
  });
});

it.each([
  [{ network: 'default' }, 'rtos-node1'],
  [{ network: 'default', mode: 'local' }, 'rtos-node1'],
  [{ network: 'layer3' }, 'rtos-isolatednet_test-node'],
  [{ network: 'layer2' }, 'trtos-isolatednet_ovn_layer2_switch'],
] as const)('pods do not send to where the host reaches ports of pods: %o', (change, inport) => {
  const drops = rows(worked(change), 'Logical_Router_Policy').filter(({ priority }) => priority === 1006);
  expect(drops.map(({ action, match }) => `${action} ${match}`)).toEqual([
    `drop inport == "${inport}" && (ip4.dst == 169.254.169.6/31 || ip6.dst == fd69::6/127)`,
  ]);
});

describe('local gateway mode', () => {
  it('commits all connections on the routers of user-defined networks, not on the default network’s', () => {
    const ofRouter = (change: Partial<WorkedInput>, name: string) =>
      options(row(worked({ mode: 'local', ...change }), 'Logical_Router', name))['ct-commit-all'];
    expect(ofRouter({}, 'isolatednet_ovn_cluster_router')).toBe('true');
    expect(ofRouter({ network: 'layer2' }, 'isolatednet_transit_router')).toBe('true');
    expect(ofRouter({ network: 'default' }, 'ovn_cluster_router')).toBeUndefined();
    expect(ofRouter({ mode: 'shared' }, 'isolatednet_ovn_cluster_router')).toBeUndefined();
  });

  it('differs in that option, in the next hop of what leaves and in a way to the host, and in nothing else', () => {
    const lines = (mode: WorkedInput['mode']) =>
      JSON.stringify(worked({ mode, families: 'dual' }).render().northbound, undefined, 1).split('\n');
    const shared = new Set(lines('shared'));
    const changed = lines('local').filter((line) => !shared.has(line) && !line.includes('Static_Route'));
    expect(changed.map((line) => line.trim())).toEqual([
      '"ct-commit-all": "true"',
      '"ip_prefix": "169.254.169.2",',
      '"ip_prefix": "fd69::2",',
      '"nexthop": "192.168.1.2",',
      '"nexthop": "fd00:192:168:1::2",',
    ]);
    const nextHops = (mode: WorkedInput['mode'], isOf: (row: { policy?: unknown; ip_prefix?: unknown }) => boolean) =>
      rows(worked({ mode, families: 'dual' }), 'Logical_Router_Static_Route')
        .filter(isOf)
        .map(({ nexthop }) => nexthop);
    expect(nextHops('shared', ({ policy }) => policy === 'src-ip')).toEqual(['100.65.0.4', 'fd99::4']);
    expect(nextHops('local', ({ policy }) => policy === 'src-ip')).toEqual(['192.168.1.2', 'fd00:192:168:1::2']);
    expect(nextHops('local', (row) => row.ip_prefix === 'fd69::2')).toEqual(['fd99::4']);
  });
});

describe('marks of rows', () => {
  it('say the network on all rows but the ports to pods, to the transit switch and of the node', () => {
    const without = (change: Partial<WorkedInput>) =>
      Object.values(worked(change).render().northbound)
        .flat()
        .filter((one) => typeof one['name'] === 'string' && one['name'].includes('isolatednet_'))
        .filter((one) => ids(one)['k8s.ovn.org/network'] === undefined && one['chassis_name'] === undefined)
        .map((one) => one['name']);
    expect(without({})).toEqual([
      // It has no place for any.
      'isolatednet_clusterLBGroup',
      'isolatednet_rtots-test-node',
      'rtos-isolatednet_test-node',
      'isolatednet_tstor-other-node',
      'isolatednet_tstor-test-node',
      'jtor-isolatednet_ovn_cluster_router',
      'k8s-isolatednet_test-node',
      'stor-isolatednet_test-node',
    ]);
    expect(without({ network: 'layer2' })).toEqual([
      'isolatednet_clusterLBGroup',
      'trtos-isolatednet_ovn_layer2_switch',
      'k8s-isolatednet_test-node',
    ]);
  });

  it('name the role on switches and gateway routers, not on join switches and cluster routers', () => {
    const it = worked();
    const role = (table: string, name: string) => ids(row(it, table, name))['k8s.ovn.org/role'];
    expect(role('Logical_Router', 'GR_isolatednet_test-node')).toBe('primary');
    expect(role('Logical_Switch', 'ext_isolatednet_test-node')).toBe('primary');
    expect(role('Logical_Switch', 'isolatednet_join')).toBeUndefined();
    expect(role('Logical_Router', 'isolatednet_ovn_cluster_router')).toBeUndefined();
  });
});

describe('the node’s translation towards the host', () => {
  it('is on the router of the pods, not on the gateway router, and only for the management port’s MAC', () => {
    const nats = (change: Partial<WorkedInput>) =>
      rows(worked(change), 'NAT')
        .filter((nat) => nat['logical_port'] !== undefined)
        .map((nat) => [ids(nat)['ovn-udn/key'], nat['external_ip'], nat['logical_port'], nat['match']]);
    expect(nats({})).toEqual([
      [
        'NAT/isolatednet_ovn_cluster_router/snat/192.168.1.0/24',
        '169.254.169.14',
        'rtos-isolatednet_test-node',
        'eth.dst == 0a:58:c0:a8:01:02',
      ],
    ]);
    expect(nats({ network: 'layer2' })).toEqual([
      [
        'NAT/isolatednet_transit_router/snat/100.200.0.0/16',
        '169.254.169.14',
        'trtos-isolatednet_ovn_layer2_switch',
        'eth.dst == 0a:58:64:c8:00:02',
      ],
    ]);
    expect(nats({ network: 'default' })).toEqual([]);
  });
});

describe('details of the gateway', () => {
  it('several next hops share the load, a VLAN is the tag of the port to the bridge', () => {
    const it = worked().gateway('test-node', {
      bridge: 'breth0',
      addresses: ['192.168.126.202/24'],
      nextHops: ['192.168.126.1', '192.168.126.2', 'fd00::1'],
      vlanId: 42,
    });
    const hops = rows(it, 'Logical_Router_Static_Route').filter(({ ip_prefix: prefix }) => prefix === '0.0.0.0/0');
    expect(hops.map(({ nexthop }) => nexthop)).toEqual(
      // Of the default network, which has no subnet here, there is no gateway.
      ['192.168.126.1', '192.168.126.2'],
    );
    expect(row(it, 'Logical_Switch_Port', 'breth0_isolatednet_test-node')?.['tag_request']).toBe(42);
    expect(row(worked(), 'Logical_Switch_Port', 'breth0_isolatednet_test-node')).not.toHaveProperty('tag_request');
  });

  it('a datapath that cannot compare sizes has no gateway_mtu anywhere', () => {
    for (const network of ['layer3', 'layer2'] as const) {
      const it = worked({ network });
      const node = it.facts.get('node', 'test-node');
      if (node === undefined) throw new Error('no node');
      it.facts.set('node', 'test-node', { ...node, gatewayMtuSupport: false });
      expect(JSON.stringify(it.render().northbound)).not.toContain('gateway_mtu');
    }
  });

  it('gateway and management port of a layer-2 network can be moved by the network', () => {
    const it = worked({ network: 'layer2' });
    const network = it.facts.get('network', 'isolatednet');
    if (network === undefined) throw new Error('no network');
    const management = () => row(it, 'Logical_Switch_Port', 'k8s-isolatednet_test-node')?.['addresses'];
    expect(management()).toEqual(['0a:58:64:c8:00:02 100.200.0.2']);
    it.facts.set('network', 'isolatednet', { ...network, defaultGatewayIps: [parseIp('100.200.0.2')] });
    const gateway = () => row(it, 'Logical_Router_Port', 'trtos-isolatednet_ovn_layer2_switch')?.['networks'];
    expect(gateway()).toEqual(['100.200.0.2/16']);
    expect(management()).toEqual(['0a:58:64:c8:00:01 100.200.0.1']);
    it.facts.set('network', 'isolatednet', { ...network, infrastructureSubnets: [parseCidr('100.200.9.0/28')] });
    expect(gateway()).toEqual(['100.200.9.1/16']);
    expect(management()).toEqual(['0a:58:64:c8:09:02 100.200.9.2']);
  });
});

describe('a change', () => {
  const northboundOwners = /^(layer[23]|gateway-routers|management-ports|pods|isolation|zone)/;

  it('of the node’s addresses renders what has them, and no cluster router', () => {
    const owners = renderedBy(worked(), (it) =>
      it.gateway('test-node', { bridge: 'breth0', addresses: ['192.168.126.203/24'], nextHops: ['192.168.126.1'] }),
    ).filter((owner) => northboundOwners.test(owner));
    expect(owners).toEqual(['gateway-routers:isolatednet']);
  });

  it('of the gateway mode renders the routers of the networks', () => {
    const owners = renderedBy(worked(), (it) => {
      const gateway = it.facts.get('gateway', 'test-node');
      it.facts.set('gateway', 'test-node', gateway && { ...gateway, mode: 'local' });
    }).filter((owner) => northboundOwners.test(owner));
    expect(owners.sort()).toEqual(['gateway-routers:isolatednet', 'layer3:isolatednet']);
  });

  it('of the addresses of the host renders the default network only', () => {
    const owners = renderedBy(workedCluster({ network: 'default', mode: 'shared', families: 'ipv4' }), (it) =>
      it.facts.set('hostAddresses', 'node1', []),
    ).filter((owner) => northboundOwners.test(owner));
    expect(owners).toEqual(['gateway-routers:default']);
  });

  it('of another node’s gateway renders nothing here', () => {
    const owners = renderedBy(worked(), (it) => it.gateway('other-node', { addresses: ['192.168.126.9/24'] }));
    expect(owners.filter((owner) => northboundOwners.test(owner))).toEqual([]);
  });

  it('one more network renders that network only', () => {
    const owners = renderedBy(worked(), (it) =>
      it
        .network('red', { id: 7, topology: 'layer3', subnets: ['10.1.0.0/16'], namespace: 'red', nad: 'net' })
        .subnets('test-node', 'red', ['10.1.1.0/24']),
    );
    expect(owners.filter((owner) => northboundOwners.test(owner) && !owner.endsWith('red'))).toEqual([]);
  });

  it('a network that goes takes all of its rows along', () => {
    for (const network of ['layer3', 'layer2'] as const) {
      const it = worked({ network });
      expect(JSON.stringify(it.render().northbound)).toContain('isolatednet');
      it.facts.set('network', 'isolatednet', undefined);
      expect(JSON.stringify(it.render().northbound)).not.toContain('isolatednet');
    }
  });
});

it('networks with the same subnets share no row and no address towards the node', () => {
  const it = worked();
  for (const id of [7, 8]) {
    it.network(`net${id}`, { id, topology: 'layer3', subnets: ['192.168.0.0/16'], namespace: `ns${id}`, nad: 'net' });
    it.subnets('test-node', `net${id}`, ['192.168.1.0/24']);
  }
  it.render();
  const keys = [...it.sinks.northbound.fragments.values()].flatMap((one) => (one.rows ?? []).map(({ key }) => key));
  expect(new Set(keys).size).toBe(keys.length);
  const externals = (end: string) =>
    rows(it, 'NAT')
      .filter((nat) => ids(nat)['ovn-udn/key']?.includes(end))
      .map((nat) => nat['external_ip']);
  expect(externals('/snat/192.168.0.0/16')).toEqual(['169.254.169.13', '169.254.169.23', '169.254.169.25']);
  expect(externals('/snat/192.168.1.0/24')).toEqual(['169.254.169.14', '169.254.169.24', '169.254.169.26']);
});
