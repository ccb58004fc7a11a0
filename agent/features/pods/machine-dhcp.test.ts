import { describe, expect, it } from 'vitest';
import { TestCluster } from '../../testing/cluster.ts';
import { row, rows } from '../../testing/northbound-rows.ts';

const IPS = ['10.200.0.3/16', 'fd00:200::3/64'];

const cluster = (role?: 'secondary'): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'] } })
    .node('node2', { id: 3 })
    .namespace('kube-system')
    .service('kube-system/kube-dns', { ips: ['172.16.1.10', 'fd00:10:96::a'], ports: ['dns:UDP/53', 'dns-tcp:TCP/53'] })
    .network('green_net', {
      ...{ id: 3, topology: 'layer2', subnets: ['10.200.0.0/16', 'fd00:200::/64'], namespace: 'green', nad: 'net' },
      ...(role === undefined ? { tunnelKeys: [16_711_686, 16_715_779] } : { role }),
    });

const machine = (it: TestCluster, name: string, more: object = {}): TestCluster => {
  it.pod(`green/${name}`, {
    ...{ node: 'node1', machine: 'vm1', networks: { 'green/net': { ips: IPS, tunnelId: 10 } } },
    ...more,
  });
  return it;
};

const portOf = (it: TestCluster, name: string) => row(it, 'Logical_Switch_Port', `green.net_green_${name}`);

describe('the port of a virtual machine', () => {
  it('is answered by rows of its subnet, of both families', () => {
    const it = machine(cluster(), 'a');
    const four = {
      cidr: '10.200.0.0/16',
      options: {
        ...{ server_id: '169.254.1.1', server_mac: '0a:58:a9:fe:01:01', lease_time: '3500', mtu: '1400' },
        ...{ dns_server: '172.16.1.10' },
      },
      external_ids: expect.objectContaining({
        'k8s.ovn.org/id': 'green_net-network-controller:VirtualMachine:10.200.0.0/16:no-gateway',
      }),
    };
    const six = {
      cidr: 'fd00:200::/64',
      options: { server_id: '0a:58:6d:6d:c1:50', fqdn: '"vm1"', dns_server: 'fd00:10:96::a' },
      external_ids: expect.objectContaining({
        'k8s.ovn.org/id': 'green_net-network-controller:VirtualMachine:fd00.200../64:vm1',
      }),
    };
    expect(rows(it, 'DHCP_Options')).toEqual([four, six]);
    expect(portOf(it, 'a')).toMatchObject({
      dhcpv4_options: expect.stringMatching(/^DHCP_Options\/.*10\.200/),
      dhcpv6_options: expect.stringMatching(/^DHCP_Options\/.*fd00/),
      options: { hostname: '"vm1"' },
    });
  });

  it('shares them with those of other machines, which have names of their own', () => {
    const it = machine(machine(cluster(), 'a'), 'b', {
      ...{ machine: 'vm2', networks: { 'green/net': { ips: ['10.200.0.4/16'], tunnelId: 11 } } },
    });
    expect(rows(it, 'DHCP_Options')).toHaveLength(2);
    const [a, b] = [portOf(it, 'a'), portOf(it, 'b')];
    expect([b?.['dhcpv4_options'], b?.['dhcpv6_options']]).toEqual([a?.['dhcpv4_options'], undefined]);
    expect(b?.['options']).toMatchObject({ hostname: '"vm2"' });
    const group = rows(it, 'Port_Group').find(({ ports }) => String(ports).includes('green_a'));
    expect([group?.['ports'], group?.['acls']]).toEqual([
      [expect.stringContaining('green_a'), expect.stringContaining('green_b')],
      [expect.stringContaining('Ask:4'), expect.stringContaining('Ask:6')],
    ]);
  });

  it('on a secondary network is told of no name servers, which nothing there leads to', () => {
    const it = machine(cluster('secondary'), 'a', { selects: 'net' });
    for (const { options } of rows(it, 'DHCP_Options')) expect(options).not.toHaveProperty('dns_server');
    expect(rows(it, 'DHCP_Options')).toHaveLength(2);
  });

  it.each([
    ['a pod that is no machine', { machine: undefined }],
    ['a machine of another node', { node: 'node2' }],
    ['one that has no addresses', { networks: { 'green/net': { ips: [], tunnelId: 10 } } }],
  ])('has none: %s', (_, more) => {
    const it = machine(cluster(), 'a', more);
    expect(rows(it, 'DHCP_Options')).toEqual([]);
    expect(portOf(it, 'a')).not.toHaveProperty('dhcpv4_options');
    expect(portOf(it, 'a')?.['options']).not.toHaveProperty('hostname');
  });
});

it('a port that waits for its machine is closed, in the zone of another node, too', () => {
  for (const node of ['node1', 'node2']) {
    const it = machine(cluster(), 'a', { node, standby: new Map([['green/net', 'green/source']]) });
    expect(portOf(it, 'a')).toMatchObject({
      enabled: false,
      port_security: ['0a:58:0a:c8:00:03 10.200.0.3 fd00:200::3'],
      options: { 'requested-tnl-key': '10', 'requested-chassis': `chassis-${node}` },
    });
    expect(portOf(it, 'a')?.['addresses'] ?? []).toEqual([]);
  }
});

it('a port of this node that is closed is a problem that names who has the machine', () => {
  const of = (node: string) => {
    const it = machine(cluster(), 'a', { node, standby: new Map([['green/net', 'green/source']]) });
    it.render();
    return [...it.engine.diagnostics.values()].flat().filter(({ cause }) => cause === 'machine-elsewhere');
  };
  expect(of('node1')).toMatchObject([
    {
      ...{ object: 'Pod/green/a', severity: 'info', event: 'MachineElsewhere' },
      message: 'its port on green/net is closed: pod green/source of the same virtual machine has its addresses',
    },
  ]);
  expect(of('node2')).toEqual([]);
});

it('the last machine of a network takes the rows along', () => {
  const it = machine(machine(cluster(), 'a'), 'b', {
    ...{ machine: 'vm2', networks: { 'green/net': { ips: ['10.200.0.4/16'], tunnelId: 11 } } },
  });
  const machines = (table: 'ACL' | 'DHCP_Options' | 'Port_Group') =>
    rows(it, table).filter(({ external_ids: ids }) => JSON.stringify(ids).includes('"VirtualMachine"')).length;
  const counts = () => [machines('DHCP_Options'), machines('Port_Group'), machines('ACL')];
  expect(counts()).toEqual([2, 1, 2]);
  it.facts.set('pod', 'green/a', undefined);
  expect(counts()).toEqual([1, 1, 2]);
  it.facts.set('pod', 'green/b', undefined);
  expect(counts()).toEqual([0, 0, 0]);
});

it('without IPAM a port is open, and closed, by its MAC alone', () => {
  const of = (standby?: ReadonlyMap<string, string>) => {
    const it = new TestCluster('node1').node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'] } });
    const bare = { id: 5, topology: 'layer2', role: 'secondary', subnets: [], namespace: 'green', nad: 'net' } as const;
    it.network('green_net', bare);
    const networks = { 'green/net': { ips: [], role: 'secondary', tunnelId: 10 } } as const;
    it.pod('green/a', { node: 'node1', networks, ...{ machine: 'vm1', standby } });
    return portOf(it, 'a');
  };
  expect(of()).toMatchObject({ addresses: ['0a:58:00:00:00:01'] });
  expect(of()).not.toHaveProperty('enabled');
  const closed = of(new Map([['green/net', 'green/source']]));
  expect(closed).toMatchObject({ enabled: false, port_security: ['0a:58:00:00:00:01'] });
  expect(closed?.['addresses'] ?? []).toEqual([]);
});
