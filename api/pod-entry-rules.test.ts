import { describe, expect, it } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../net/cidr.ts';
import { parsePortKey } from '../net/ids.ts';
import { parseIp } from '../net/ip.ts';
import { parseMac } from '../net/mac.ts';
import type { PodNetworkEntry } from './annotations/pod-networks.ts';
import type { Network } from './network.ts';
import { brokenPodEntry, type PodEntryContext } from './pod-entry-rules.ts';

const SUBNETS = ['10.20.1.0/24', 'fd00:20:1::/64'].map(parseCidr);
const network = {
  name: 'red_net',
  topology: 'layer2',
  role: 'primary',
  subnets: SUBNETS.map((cidr) => ({ cidr })),
  defaultGatewayIps: [],
  infrastructureSubnets: [],
} as unknown as Network;
const context: PodEntryContext = { network, subnets: SUBNETS, role: 'primary' };

const entry = (changed: Partial<PodNetworkEntry> = {}): PodNetworkEntry => ({
  ipAddresses: ['10.20.1.3/24', 'fd00:20:1::3/64'].map(parseInterfaceAddress),
  mac: parseMac('0a:58:0a:14:01:03'),
  gatewayIps: ['10.20.1.1', 'fd00:20:1::1'].map(parseIp),
  routes: [],
  tunnelId: parsePortKey(10),
  role: 'primary',
  ...changed,
});
const ips = (...all: string[]) => entry({ ipAddresses: all.map(parseInterfaceAddress) });

describe('what of an annotation can be a pod’s', () => {
  it('is what the cluster manager gives', () => expect(brokenPodEntry(entry(), context)).toBeUndefined());

  it.each([
    ['the gateway', ips('10.20.1.1/24'), 'ip_addresses: 10.20.1.1 is the gateway of 10.20.1.0/24'],
    ['the management port', ips('10.20.1.2/24'), 'ip_addresses: 10.20.1.2 is the management port of 10.20.1.0/24'],
    ['the network', ips('10.20.1.0/24'), 'ip_addresses: 10.20.1.0 is the network address of 10.20.1.0/24'],
    ['a broadcast', ips('10.20.1.255/24'), 'ip_addresses: 10.20.1.255 is the broadcast address of 10.20.1.0/24'],
    ['somewhere else', ips('10.96.0.1/24'), /^ip_addresses: 10\.96\.0\.1 is not in 10\.20\.1\.0\/24, fd00:20:1::\/64/],
    [
      'a wider prefix',
      ips('10.20.1.3/16'),
      'ip_addresses: 10.20.1.3/16 does not have the prefix length of 10.20.1.0/24',
    ],
    ['two of a family', ips('10.20.1.3/24', '10.20.1.4/24'), 'ip_addresses: has two addresses of one family'],
    ['none', ips(), 'ip_addresses: has none'],
    [
      "the gateway's MAC",
      entry({ mac: parseMac('0a:58:0a:14:01:01') }),
      "mac_address: 0a:58:0a:14:01:01 is the gateway's",
    ],
    [
      "the management port's MAC",
      entry({ mac: parseMac('0a:58:0a:14:01:02') }),
      "mac_address: 0a:58:0a:14:01:02 is the management port's",
    ],
    ["the switch's MAC", entry({ mac: parseMac('0a:58:a9:fe:01:01') }), /^mac_address: 0a:58:a9:fe:01:01 is that of/],
    [
      'another gateway',
      entry({ gatewayIps: [parseIp('10.20.1.9')] }),
      'gateway_ips: 10.20.1.9 is not the gateway of this network',
    ],
    [
      'a route by another pod',
      entry({ routes: [{ dest: parseCidr('10.0.0.0/8'), nextHop: parseIp('10.20.1.9') }] }),
      'routes: 10.20.1.9 is not the gateway of this network',
    ],
    [
      'a route to everything without a gateway',
      entry({ routes: [{ dest: parseCidr('0.0.0.0/0') }] }),
      "routes: 0.0.0.0/0 has no gateway and is not on this network's link",
    ],
    [
      'another link-local gateway',
      entry({ ipv6LlaGatewayIp: parseIp('fe80::9') }),
      'ipv6_lla_gateway_ip: fe80::9 is not the gateway of this network',
    ],
    ["a router's key", entry({ tunnelId: parsePortKey(4) }), "tunnel_id: 4 is a router's"],
    ['another role', entry({ role: 'secondary' }), 'role: is secondary, this network is primary to the pod'],
  ])('is not %s', (_, broken, why) => {
    const found = brokenPodEntry(broken, context);
    if (typeof why === 'string') expect(found).toBe(why);
    else expect(found).toMatch(why);
  });
});
