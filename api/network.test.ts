import { describe, expect, it } from 'vitest';
import { parseCidr } from '../net/cidr.ts';
import { parseIp } from '../net/ip.ts';
import { parseClusterConfig } from './cluster-config.ts';
import { parseNetConf } from './net-conf.ts';
import { gatewayIp, gatewayMac, managementIp, managementMac, networkOfNetConf } from './network.ts';

const DEFAULTS = { defaultGatewayIps: [], infrastructureSubnets: [] };
const [v4, v6] = [parseCidr('192.168.1.0/24'), parseCidr('fd00:10:128::/64')];

describe('the management port', () => {
  it('has the second address, and the MAC of the IPv4 one whatever comes first', () => {
    expect(managementIp(DEFAULTS, v4)).toBe('192.168.1.2');
    expect(managementMac(DEFAULTS, [v4])).toBe('0a:58:c0:a8:01:02');
    expect(managementMac(DEFAULTS, [v6, v4])).toBe('0a:58:c0:a8:01:02');
    expect(managementMac(DEFAULTS, [v6])).toMatch(/^0a:58:/);
    expect(managementMac(DEFAULTS, [])).toBeUndefined();
  });

  it('makes room for a gateway at the second address', () => {
    const moved = { ...DEFAULTS, defaultGatewayIps: [parseIp('192.168.1.2')] };
    expect(managementIp(moved, v4)).toBe('192.168.1.1');
    expect(managementMac(moved, [v4])).toBe('0a:58:c0:a8:01:01');
    expect(gatewayMac(moved, [v4])).toBe('0a:58:c0:a8:01:02');
  });
});

describe('infrastructure subnets', () => {
  const own = (parts: readonly string[], gateway?: string) => {
    const network = {
      defaultGatewayIps: gateway === undefined ? [] : [parseIp(gateway)],
      infrastructureSubnets: parts.map(parseCidr),
    };
    return [v4, v6].map((subnet) => [gatewayIp(network, subnet), managementIp(network, subnet)]);
  };
  const USUAL = ['fd00:10:128::1', 'fd00:10:128::2'];

  it.each([
    { name: 'have the gateway and the management port', parts: ['192.168.1.64/28'], want: ['.65', '.66'] },
    {
      name: 'leave the gateway where it was asked for',
      parts: ['192.168.1.64/28'],
      gateway: '192.168.1.65',
      want: ['.65', '.66'],
    },
    {
      name: 'have the management port before the gateway',
      parts: ['192.168.1.64/28'],
      gateway: '192.168.1.70',
      want: ['.70', '.65'],
    },
    {
      name: 'of one address have one each',
      parts: ['192.168.1.7/32', '192.168.1.9/32'],
      want: ['.7', '.9'],
    },
    { name: 'that have no address left leave the usual one', parts: ['192.168.1.7/32'], want: ['.7', '.2'] },
    { name: 'of both ends have neither of them', parts: ['192.168.1.0/32', '192.168.1.255/32'], want: ['.1', '.2'] },
  ])('$name', ({ parts, gateway, want }) => {
    expect(own(parts, gateway)).toEqual([want.map((last) => `192.168.1${last}`), USUAL]);
  });

  it('of IPv6 move what is of IPv6', () => {
    expect(own(['fd00:10:128::f0/124'])).toEqual([
      ['192.168.1.1', '192.168.1.2'],
      ['fd00:10:128::f1', 'fd00:10:128::f2'],
    ]);
  });
});

it.each([
  ['of a tunnel', 'layer2', {}, 1400],
  ['of the physical network', 'localnet', {}, 1500],
  ['that it names', 'localnet', { mtu: 9000 }, 9000],
])('the MTU of a network that is written by hand is that %s', (_, topology, more, mtu) => {
  const config = {
    ...{ cniVersion: '1.1.0', type: 'ovn-k8s-cni-overlay', name: 'dc', netAttachDefName: 'a/dc' },
    ...{ topology, role: 'secondary', ...more },
  };
  const conf = parseNetConf(JSON.stringify(config), { namespace: 'a', name: 'dc' });
  expect(networkOfNetConf(conf!, parseClusterConfig()).mtu).toBe(mtu);
});
