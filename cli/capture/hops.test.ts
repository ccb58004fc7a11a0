import { expect, it } from 'vitest';
import type { NetworkStatus, PodAttachmentStatus } from '../../api/agent-status.ts';
import { hopsOf, type PodPlace } from './hops.ts';

const network = (name: string, id: number, role: NetworkStatus['role']): NetworkStatus => ({
  ...{ name, id, role, nads: [], topology: 'layer3', mtu: 1400, subnets: [], nodeSubnets: [], pods: 1, state: 'ready' },
  ...(role === 'primary' && {
    masquerade: { gateway: ['169.254.0.11', 'fd69::b'], management: ['169.254.0.12', 'fd69::c'] },
  }),
});

const attachment = (of: string, own: string, more: Partial<PodAttachmentStatus> = {}): PodAttachmentStatus => ({
  ...{ network: of, nad: of, role: 'primary', interface: own, addresses: [], port: 'p', installed: true },
  hostInterface: `veth-${own}`,
  ...more,
});

const NETWORKS = [
  network('default', 0, 'default'),
  network('red_net', 1, 'primary'),
  network('red_two', 2, 'secondary'),
];
const place = (more: Partial<PodPlace> = {}): PodPlace => ({
  pod: {
    attachments: [
      attachment('default', 'eth0', { addresses: ['10.128.0.3/23'] }),
      attachment('red_net', 'ovn-udn1', { addresses: ['10.100.0.3/24', 'fd00::3/64'] }),
    ],
  },
  networks: NETWORKS,
  node: {
    name: 'node-1',
    gateway: { mode: 'shared', bridge: 'br-ex', uplink: 'eth0', mac: 'm', addresses: [], nextHops: [] },
  },
  tunnelKeys: [7],
  hasInterface: () => true,
  filter: '',
  ...more,
});

const filtersOf = (of: PodPlace) => Object.fromEntries(hopsOf(of).captured.map((hop) => [hop.interface, hop.filter]));
const HOSTS = 'host 10.128.0.3 or host 10.100.0.3 or host fd00::3';
const VNI = '(udp[12:4] & 0xffffff00 = 0x00000700 or ip6[52:4] & 0xffffff00 = 0x00000700)';

it('each hop has the packets of the pod, in the order of one that leaves it', () => {
  expect(hopsOf(place()).captured.map(({ name, interface: link, filter }) => [name, link, filter])).toEqual([
    ['pod eth0 (default)', 'veth-eth0', ''],
    ['pod ovn-udn1 (red_net)', 'veth-ovn-udn1', ''],
    ['management port (default)', 'ovn-k8s-mp0', 'host 10.128.0.3'],
    [
      'management port (red_net)',
      'ovn-k8s-mp1',
      'host 10.100.0.3 or host fd00::3 or host 169.254.0.12 or host fd69::c',
    ],
    ['gateway bridge', 'br-ex', `${HOSTS} or host 169.254.0.11 or host fd69::b`],
    ['uplink', 'eth0', `(${HOSTS}) or (udp port 6081 and ${VNI} and geneve and (${HOSTS}))`],
    ['tunnels', 'genev_sys_6081', HOSTS],
  ]);
  expect(hopsOf(place()).missed.map(({ name }) => name)).toEqual(['br-int']);
});

it("with the user's filter: as well at hops that others share, alone where the pod's address is translated", () => {
  expect(filtersOf(place({ filter: 'icmp' }))).toMatchObject({
    'veth-ovn-udn1': 'icmp',
    'ovn-k8s-mp1': '(host 10.100.0.3 or host fd00::3 or host 169.254.0.12 or host fd69::c) and (icmp)',
    'br-ex': `(${HOSTS} or host 169.254.0.11 or host fd69::b) and (icmp)`,
    eth0: `(icmp) or (udp port 6081 and ${VNI} and geneve and ((${HOSTS}) and (icmp)))`,
    genev_sys_6081: `(${HOSTS}) and (icmp)`,
  });
});

it('what cannot be captured has a reason', () => {
  const attachments = [attachment('red_two', 'net1', { mac: '0a:00:00:00:00:01' }), attachment('red_net', 'ovn-udn1')];
  const [waiting] = [{ ...attachment('default', 'eth0') }];
  delete waiting.hostInterface;
  const { captured, missed } = hopsOf(
    place({
      pod: { attachments: [...attachments, waiting] },
      hasInterface: (name) => !['veth-net1', 'genev_sys_6081', 'ovn-k8s-mp1'].includes(name),
      node: { name: 'node-1' },
    }),
  );
  expect(captured.map(({ name }) => name)).toEqual(['pod ovn-udn1 (red_net)', 'management port (default)']);
  expect(missed.map(({ name, because }) => `${name}: ${because}`)).toEqual([
    'pod net1 (red_two): interface veth-net1 does not exist',
    'pod eth0 (default): the container runtime has not asked for this interface yet',
    expect.stringMatching(/^br-int: .*patch ports/),
    'management port (red_net): interface ovn-k8s-mp1 does not exist',
    'gateway bridge: this node has no gateway bridge',
    'uplink: this node has no gateway bridge',
    expect.stringMatching(/^tunnels: genev_sys_6081 does not exist/),
  ]);
});

it('a pod without addresses is known by its MAC; without OVN its network is not known in tunnels', () => {
  const pod = { attachments: [attachment('red_two', 'net1', { mac: '0a:00:00:00:00:01' })] };
  const own = 'ether host 0a:00:00:00:00:01';
  expect(filtersOf(place({ pod, tunnelKeys: undefined }))).toMatchObject({
    genev_sys_6081: own,
    eth0: `(${own}) or (udp port 6081 and geneve and (${own}))`,
  });
  const notes = hopsOf(place({ pod, tunnelKeys: undefined })).captured.map(({ note }) => note);
  expect(notes).toContainEqual(expect.stringContaining('in tunnels of all networks, as OVN does not answer'));
});
