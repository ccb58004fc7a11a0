import { describe, expect, it } from 'vitest';
import type { NetworkStatus, NodeStatus, PodStatus } from '../../api/agent-status.ts';
import type { Transact } from '../flows/datapaths.ts';
import { type EndpointOptions, endsOf, type Knowledge, portOwners } from './endpoints.ts';
import { flowText } from './packet.ts';
import { parseDatapathPorts } from './port-names.ts';

const network = (more: Partial<NetworkStatus>): NetworkStatus => ({
  name: 'red_red',
  id: 1,
  nads: ['red/red'],
  topology: 'layer3',
  role: 'primary',
  mtu: 1400,
  subnets: ['10.100.0.0/16/24', 'fd00:100::/48/64'],
  nodeSubnets: ['10.100.0.0/24', 'fd00:100::/64'],
  pods: 1,
  state: 'ready',
  ...more,
});

const attachment = (more: Partial<PodStatus['attachments'][number]>): PodStatus['attachments'][number] => ({
  network: 'red_red',
  nad: 'red/red',
  role: 'primary',
  interface: 'ovn-udn1',
  addresses: ['10.100.0.3/24', 'fd00:100::3/64'],
  mac: '0a:58:0a:64:00:03',
  port: 'red.red_red_a',
  hostInterface: 'a_1',
  installed: true,
  ...more,
});

const pod = (name: string, ...attachments: PodStatus['attachments']): PodStatus => ({
  namespace: 'red',
  name,
  uid: name,
  attachments,
  state: 'ready',
});

const NODE: NodeStatus = {
  name: 'n1',
  gateway: {
    mode: 'shared',
    bridge: 'br-ex',
    uplink: 'eth0',
    mac: '02:00:00:00:00:01',
    addresses: ['172.20.0.11/24', 'fd00:172::b/64'],
    nextHops: ['172.20.0.1'],
  },
};

const ROWS: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  Logical_Switch_Port: [
    // Another tenant has the same address.
    {
      name: 'blue.blue_a',
      addresses: '0a:58:0a:64:00:99 10.100.0.4',
      external_ids: ['map', [['k8s.ovn.org/network', 'blue_blue']]],
    },
    {
      name: 'red.red_red_b',
      addresses: ['set', ['0a:58:0a:64:00:04 10.100.0.4 fd00:100::4']],
      external_ids: ['map', [['k8s.ovn.org/network', 'red_red']]],
    },
    // Neither the second address of their subnets nor a MAC that follows from it.
    { name: 'k8s-red_red_n1', addresses: '0a:58:0a:64:00:0a 10.100.0.10 fd00:100::a', external_ids: ['map', []] },
    { name: 'k8s-vms_vms_n1', addresses: '0a:58:0a:2a:00:01 10.42.0.1', external_ids: ['map', []] },
  ],
  Logical_Router_Port: [
    {
      name: 'rtos-red_red_n1',
      mac: '0a:58:0a:64:00:01',
      networks: ['set', ['10.100.0.1/24', 'fd00:100::1/64']],
    },
    { name: 'trtos-vms_vms_ovn_layer2_switch', mac: '0a:58:0a:2a:00:05', networks: '10.42.0.5/16' },
  ],
};

const northbound: Transact = (operations) =>
  Promise.resolve(
    operations.map((operation) => {
      if (operation.op !== 'select') throw new Error('only asks');
      const rows = (ROWS[operation.table] ?? []).filter((row) =>
        operation.where.every(([column, , value]) => row[column] === value),
      );
      return { rows } as never;
    }),
  );

const knowledge = (more: Partial<Knowledge> = {}): Knowledge => ({
  node: NODE,
  networks: [
    network({ name: 'default', id: 0, role: 'default', nads: [], nodeSubnets: ['10.128.0.0/23'] }),
    network({}),
  ],
  pods: [
    pod('a', attachment({ network: 'default', role: 'infrastructure-locked', hostInterface: 'a_0' }), attachment({})),
    pod('b', attachment({ addresses: ['10.100.0.4/24', 'fd00:100::4/64'], hostInterface: 'b_1' })),
    pod('unplugged', { ...attachment({}), hostInterface: undefined }),
  ],
  ports: parseDatapathPorts(
    '  br-ex:\n    eth0 1/1: (system)\n  br-int:\n    a_0 3/6: (system)\n    a_1 2/5: (system)\n    ovn-k8s-mp1 9/9: (tap)\n',
  ),
  northbound,
  ...more,
});

const ends = (options: Partial<EndpointOptions>, more: Partial<Knowledge> = {}) =>
  endsOf(knowledge(more), {
    from: ['pod', 'red/a'],
    to: '10.100.0.4',
    network: undefined,
    family: undefined,
    ...options,
  });

describe('a packet of a pod', () => {
  it('goes from its port of the primary network to the MAC of its neighbour there', async () => {
    const expected = {
      bridge: 'br-int',
      inPort: '2',
      logicalPort: 'red.red_red_a',
      network: 'red_red',
      sourceMac: '0a:58:0a:64:00:03',
      destinationMac: '0a:58:0a:64:00:04',
      source: '10.100.0.3',
      destination: '10.100.0.4',
    };
    expect(await ends({})).toEqual(expected);
    expect(await ends({ to: 'red/b' })).toEqual(expected);
    expect(await ends({ to: 'red/b', family: 6 })).toMatchObject({
      source: 'fd00:100::3',
      destination: 'fd00:100::4',
      destinationMac: '0a:58:0a:64:00:04',
    });
  });

  it('goes to everything else by the router', async () =>
    expect(await ends({ to: '1.1.1.1' })).toMatchObject({
      destinationMac: '0a:58:0a:64:00:01',
      destination: '1.1.1.1',
    }));

  it('on another of its networks when that is asked for', async () =>
    expect(await ends({ network: 'default' })).toMatchObject({ inPort: '3' }));

  it.each<[string, Partial<EndpointOptions>, RegExp, 1 | 2]>([
    ['of another node', { from: ['pod', 'red/c'] }, /this node has no pod red\/c/, 1],
    ['that is not plugged', { from: ['pod', 'red/unplugged'] }, /has no port on network red_red/, 1],
    ['to what is no address', { to: 'nonsense' }, /--to is an address/, 2],
    ['from nowhere', { from: ['moon'] }, /--from is/, 2],
    ['from a pod without a name', { from: ['pod'] }, /--from is/, 2],
  ])('%s is refused', (_, options, message, exitStatus) =>
    expect(ends(options)).rejects.toMatchObject({ message: expect.stringMatching(message), exitStatus }),
  );
});

describe('a packet of the host', () => {
  it('goes to a network’s subnet by its management port', async () =>
    expect(await ends({ from: ['host'], network: 'red/red' })).toMatchObject({
      bridge: 'br-int',
      inPort: '9',
      source: '10.100.0.10',
      sourceMac: '0a:58:0a:64:00:0a',
      destinationMac: '0a:58:0a:64:00:04',
    }));

  it('has the address of the family that is asked for', async () =>
    expect(await ends({ from: ['host'], network: 'red/red', to: 'fd00:100::4' })).toMatchObject({
      source: 'fd00:100::a',
      sourceMac: '0a:58:0a:64:00:0a',
    }));

  it('finds the gateway of a network where its row says, and the management port beside it', async () => {
    const vms = network({
      ...{ name: 'vms_vms', id: 2, nads: ['vms/vms'], topology: 'layer2' },
      ...{ subnets: ['10.42.0.0/16'], nodeSubnets: [] },
    });
    const ports = parseDatapathPorts('  br-int:\n    ovn-k8s-mp2 4/4: (tap)\n');
    expect(
      await ends({ from: ['host'], network: 'vms_vms', to: '10.42.0.5' }, { networks: [vms], ports }),
    ).toMatchObject({
      ...{ source: '10.42.0.1', sourceMac: '0a:58:0a:2a:00:01' },
      ...{ destination: '10.42.0.5', destinationMac: '0a:58:0a:2a:00:05' },
    });
  });

  it('is refused on a network that has no management port here', () =>
    expect(
      ends({ from: ['host'], network: 'blue', to: '10.100.0.4' }, { networks: [network({ name: 'blue', id: 3 })] }),
    ).rejects.toThrow('network blue has no management port in 10.100.0.0/24 on this node: k8s-blue_n1 does not exist'));

  it('goes to everything else by the gateway bridge', async () =>
    expect(await ends({ from: ['host'], to: '1.1.1.1' })).toMatchObject({
      bridge: 'br-ex',
      inPort: 'LOCAL',
      source: '172.20.0.11',
    }));
});

describe('a packet from outside', () => {
  it('comes through the uplink, to the MAC of the bridge', async () =>
    expect(await ends({ from: ['outside'], to: '172.20.0.11' })).toMatchObject({
      bridge: 'br-ex',
      inPort: '1',
      source: '172.20.0.1',
      destinationMac: '02:00:00:00:00:01',
    }));

  it('needs a gateway', () =>
    expect(ends({ from: ['outside'], to: '1.1.1.1' }, { node: { name: 'n1' } })).rejects.toThrow(
      'node n1 has no gateway bridge',
    ));
});

it('ports are known by who has them', () => {
  const owners = portOwners(knowledge());
  expect(owners.get('a_1')).toEqual({ pod: 'red/a', network: 'red_red' });
  expect(owners.get('ovn-k8s-mp1')).toEqual({ network: 'red_red' });
  expect(owners.get('patch-br-ex_red_red_n1-to-br-int')).toEqual({ network: 'red_red' });
});

it.each([
  ['tcp', '10.0.0.2', 'in_port=2,tcp,dl_src=m1,dl_dst=m2,nw_src=s,nw_dst=10.0.0.2,nw_ttl=64,tcp_src=40000,tcp_dst=80'],
  [
    'udp',
    'fd00::2',
    'in_port=2,udp6,dl_src=m1,dl_dst=m2,ipv6_src=s,ipv6_dst=fd00::2,nw_ttl=64,udp_src=40000,udp_dst=80',
  ],
  ['icmp', '10.0.0.2', 'in_port=2,icmp,dl_src=m1,dl_dst=m2,nw_src=s,nw_dst=10.0.0.2,nw_ttl=64,icmp_type=8,icmp_code=0'],
  [
    'icmp',
    'fd00::2',
    'in_port=2,icmp6,dl_src=m1,dl_dst=m2,ipv6_src=s,ipv6_dst=fd00::2,nw_ttl=64,icmpv6_type=128,icmpv6_code=0',
  ],
])('%s to %s as Open vSwitch reads it', (protocol, destination, text) =>
  expect(
    flowText({
      bridge: 'br-int',
      inPort: '2',
      sourceMac: 'm1',
      destinationMac: 'm2',
      source: 's',
      destination,
      protocol,
      port: 80,
    } as never),
  ).toBe(text),
);
