import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import type { Address } from '../../datapath/netlink/address/types.ts';
import type { Link } from '../../datapath/netlink/link/types.ts';
import { type Route, route } from '../../datapath/netlink/route/types.ts';
import { parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { parseMac } from '../../net/mac.ts';
import { encapProblems, tunnelMtu } from './encap-mtu.ts';
import { gatewayFact, hostAddresses } from './host-view.ts';
import type { GatewayOptions, HostSnapshot } from './uplink/types.ts';

const OPTIONS: GatewayOptions = {
  mode: 'shared',
  interface: undefined,
  nextHops: [],
  vlanId: 0,
  allowNoUplink: false,
};
const cluster = parseClusterConfig({ clusterSubnets: '10.128.0.0/14/23,fd00:10:128::/48/64' });
const BRIDGE = { bridge: 'br-ex', uplink: 'eth0' };

const link = (name: string, mtu = 1500): Link => ({
  index: 3,
  name,
  kind: undefined,
  mac: parseMac('02:00:00:00:00:0b'),
  mtu,
  up: true,
  carrier: true,
  master: undefined,
  alias: undefined,
  group: 0,
  peer: undefined,
  addrGenMode: 'eui64',
});

const address = (on: string, text: string, scope: Address['scope'] = 'global'): Address => ({
  link: on,
  address: parseInterfaceAddress(text),
  scope,
  state: 'valid',
});

const byDefault = (via: string, metric: number, dev = 'br-ex'): Route =>
  route({ dst: parseCidr(via.includes(':') ? '::/0' : '0.0.0.0/0'), via: parseIp(via), dev, metric });

const host: HostSnapshot = {
  links: [link('lo'), link('br-ex'), link('eth1')],
  addresses: [
    address('lo', '127.0.0.1/8', 'host'),
    address('lo', '::1/128', 'host'),
    address('br-ex', '192.168.7.5/24'),
    address('br-ex', '172.20.0.11/24'),
    address('br-ex', '169.254.0.2/17'),
    address('br-ex', 'fd00:172:20::b/64'),
    address('br-ex', 'fd69::2/112'),
    address('br-ex', 'fe80::1/64', 'link'),
    address('eth1', '192.168.8.5/24'),
    address('ovn-k8s-mp0', '10.128.0.2/23'),
    address('ovn-k8s-mp3', '10.60.0.2/24'),
  ],
  routes: [
    byDefault('172.20.0.254', 200),
    byDefault('172.20.0.1', 100),
    byDefault('fd00:172:20::1', 1024),
    byDefault('192.168.8.1', 0, 'eth1'),
  ],
};

const gateway = (
  options: Partial<GatewayOptions> = {},
  gatewayBridge: { bridge: string; uplink: string | undefined } = BRIDGE,
  snapshot: HostSnapshot = host,
) => gatewayFact({ node: 'n1', options: { ...OPTIONS, ...options }, cluster }, gatewayBridge, snapshot);

describe('the gateway of a node', () => {
  it('is its bridge, with the addresses that reach the next hops of its best default routes', () => {
    expect(gateway()).toEqual({
      mode: 'shared',
      bridge: 'br-ex',
      interfaceId: 'br-ex_n1',
      mac: '02:00:00:00:00:0b',
      addresses: ['172.20.0.11/24', 'fd00:172:20::b/64'],
      nextHops: ['172.20.0.1', 'fd00:172:20::1'],
      nodePortEnable: true,
      vlanId: 0,
      uplink: 'eth0',
      // Not made of its MAC.
      linkLocals: ['fe80::1'],
    });
  });

  it('has the next hops that somebody says', () => {
    expect(gateway({ nextHops: [parseIp('192.168.7.1')], mode: 'local', vlanId: 7 })).toMatchObject({
      mode: 'local',
      addresses: ['192.168.7.5/24', 'fd00:172:20::b/64'],
      nextHops: ['192.168.7.1'],
      vlanId: 7,
    });
  });

  it('has those of a default route with several, by the bridge', () => {
    const several = route({
      dst: parseCidr('0.0.0.0/0'),
      metric: 50,
      nextHops: [
        { dev: 'br-ex', via: parseIp('172.20.0.2') },
        { dev: 'eth1', via: parseIp('192.168.8.2') },
        { dev: 'br-ex', via: parseIp('172.20.0.3') },
      ],
    });
    const found = gateway({}, BRIDGE, { ...host, routes: [...host.routes, several] });
    expect(found).toMatchObject({ nextHops: ['172.20.0.2', '172.20.0.3', 'fd00:172:20::1'] });
  });

  it('has only the families that pods have', () => {
    const ipv6 = parseClusterConfig({ clusterSubnets: 'fd00:10:128::/48/64', serviceSubnets: 'fd00:10:96::/112' });
    const found = gatewayFact({ node: 'n1', options: OPTIONS, cluster: ipv6 }, BRIDGE, host);
    expect(found).toMatchObject({ addresses: ['fd00:172:20::b/64'], nextHops: ['fd00:172:20::1'] });
  });

  it.each([
    ['is switched off', gateway({ mode: 'disabled' }), /disabled/],
    ['has no interface', gateway({}, { bridge: 'br-no', uplink: 'eth0' }), /no interface/],
    ['has no uplink', gateway({ mode: 'local' }, { bridge: 'br-ex', uplink: undefined }), /does not name its uplink/],
    ['has no address', gateway({}, { bridge: 'lo', uplink: 'eth0' }), /no address/],
  ])('says why it %s', (_, found, message) => {
    expect(found).toMatch(message);
  });

  it('needs no uplink where that is allowed', () => {
    const found = gateway({ mode: 'local', allowNoUplink: true }, { bridge: 'br-ex', uplink: undefined });
    expect(found).toMatchObject({ bridge: 'br-ex', uplink: undefined });
  });
});

it('the addresses of the host are those that others may use', () => {
  expect(hostAddresses({ cluster }, host)).toEqual([
    '172.20.0.11/24',
    '192.168.7.5/24',
    '192.168.8.5/24',
    'fd00:172:20::b/64',
  ]);
});

describe('the largest MTU between nodes', () => {
  it.each([
    [1458, '172.20.0.11', false, 1400],
    [1457, '172.20.0.11', false, 1399],
    [1478, 'fd00:172:20::b', false, 1400],
    [1500, '10.9.9.9', false, undefined],
    [1492, '172.20.0.11', true, 1400],
    [1491, '172.20.0.11', true, 1396],
    [1500, 'fd00:172:20::b', true, 1388],
  ])('of %i at %s, encrypted %s: %s', (mtu, ip, isEncrypted, expected) => {
    const seen = { ...host, links: [link('br-ex', mtu)] };
    expect(tunnelMtu({ encapIps: [parseIp(ip)], isEncrypted }, seen)).toBe(expected);
    const problems = expected === undefined ? [expect.stringContaining('not an address of this node')] : [];
    expect(encapProblems({ encapIps: [parseIp(ip)] }, seen)).toEqual(problems);
  });
});
