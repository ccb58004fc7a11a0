import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type InterfaceAddress, interfaceAddress, networkOf, parseInterfaceAddress } from '../../net/cidr.ts';
import { parseDatapathKey } from '../../net/ids.ts';
import { type Ip, ipFromBigInt, parseIp } from '../../net/ip.ts';
import { macFromIp } from '../../net/mac.ts';
import { ApiError } from '../errors.ts';
import { parseNetworkIdAnnotation, parseNodeIdAnnotation } from './ids.ts';
import { formatL3GatewayConfig, type L3GatewayConfig, parseL3GatewayConfig } from './l3-gateway-config.ts';
import { formatAddressPair, parsePrimaryAddresses, parseTransitAddresses } from './node-addresses.ts';
import { formatEncapIps, formatHostCidrs, parseEncapIps, parseHostCidrs } from './node-lists.ts';
import { formatNodeSubnets, parseNodeSubnets } from './node-subnets.ts';
import {
  formatPodNetworks,
  type PodNetworkEntry,
  parsePodNetworkEntry,
  parsePodNetworks,
  podNetworkEntryJson,
} from './pod-networks.ts';
import { formatTunnelKeys, parseTunnelKeys } from './tunnel-keys.ts';

const ip4 = fc.bigInt({ min: 0x0100_0000n, max: 0xdfff_ffffn }).map((value) => ipFromBigInt(4, value));
const ip6 = fc.bigInt({ min: 1n << 125n, max: (1n << 126n) - 1n }).map((value) => ipFromBigInt(6, value));
const address4 = fc.tuple(ip4, fc.integer({ min: 8, max: 30 })).map(([ip, length]) => interfaceAddress(ip, length));
const address6 = fc.tuple(ip6, fc.integer({ min: 16, max: 126 })).map(([ip, length]) => interfaceAddress(ip, length));
const network4 = fc.tuple(ip4, fc.integer({ min: 8, max: 30 })).map(([ip, length]) => networkOf(ip, length));
const network6 = fc.tuple(ip6, fc.integer({ min: 16, max: 126 })).map(([ip, length]) => networkOf(ip, length));

describe('node-subnets', () => {
  it('has the text that other readers know', () => {
    const text = '{"default":["10.244.0.0/24"],"ns_udn":["10.10.0.0/24","2014:0:0:1::/64"]}';
    expect(formatNodeSubnets(parseNodeSubnets(text, 'n1'))).toBe(text);
  });

  it('reads a bare string as a list of one and sorts networks when it writes', () => {
    const subnets = parseNodeSubnets('{"ns_b":"10.10.0.0/24","default":"10.244.0.0/24"}', 'n1');
    expect(formatNodeSubnets(subnets)).toBe('{"default":["10.244.0.0/24"],"ns_b":["10.10.0.0/24"]}');
  });

  it('names the network and the subnet that is wrong', () => {
    expect(() => parseNodeSubnets('{"default":["10.244.0.1/24"]}', 'n1')).toThrow(
      expect.objectContaining({
        code: 'ERR_API_FIELD',
        object: 'annotation k8s.ovn.org/node-subnets of Node n1',
        field: 'default[0]',
        message: 'default[0]: "10.244.0.1/24" has host bits set, the network is 10.244.0.0/24',
      }),
    );
  });

  it('keeps the lists of networks that are written as before, and says the same of all as without that', () => {
    const before = parseNodeSubnets('{"a":["10.1.0.0/24"],"b":["10.2.0.0/24"],"gone":["10.9.0.0/24"]}', 'n');
    const text = '{"b":["10.3.0.0/24"],"a":["10.1.0.0/24"],"constructor":"10.4.0.0/24"}';
    const after = parseNodeSubnets(text, 'n', before);
    expect([...after]).toEqual([...parseNodeSubnets(text, 'n')]);
    expect(after.get('a')).toBe(before.get('a'));
    expect(() => parseNodeSubnets('{"a":["10.1.0.0/24"],"b":["10.2.0.1/24"]}', 'n', before)).toThrow(
      expect.objectContaining({ field: 'b[0]' }),
    );
    expect(() => parseNodeSubnets('[]', 'n', before)).toThrow(expect.objectContaining({ code: 'ERR_API_FIELD' }));
  });

  it('reads after any other text as it reads alone', () => {
    const texts = fc
      .dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.array(network4))
      .map((it) => JSON.stringify(it));
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        expect([...parseNodeSubnets(one, 'n', parseNodeSubnets(other, 'n'))]).toEqual([...parseNodeSubnets(one, 'n')]);
      }),
    );
  });

  it('reads back what it writes', () => {
    const map = fc.dictionary(fc.stringMatching(/^[a-z][a-z_.-]{0,12}$/), fc.array(fc.oneof(network4, network6)));
    fc.assert(
      fc.property(map, (subnets) => {
        const value = new Map(Object.entries(subnets));
        expect(parseNodeSubnets(formatNodeSubnets(value), 'n')).toEqual(value);
      }),
    );
  });
});

describe('small node and NAD annotations', () => {
  it('node-id and network-id are decimal numbers in their range', () => {
    expect(parseNodeIdAnnotation('2', 'n1')).toBe(2);
    expect(parseNetworkIdAnnotation('4095', 'ns/a')).toBe(4095);
    expect(() => parseNodeIdAnnotation('02', 'n1')).toThrow('"02" is not a node id (1–5000)');
    expect(() => parseNetworkIdAnnotation('4096', 'ns/a')).toThrow(
      expect.objectContaining({
        object: 'annotation k8s.ovn.org/network-id of NetworkAttachmentDefinition ns/a',
      }),
    );
  });

  it('tunnel-keys is a JSON list', () => {
    expect(formatTunnelKeys([16711685, 16715780].map(parseDatapathKey))).toBe('[16711685,16715780]');
    expect(parseTunnelKeys('[16711685,16715780]', 'ns/a')).toEqual([16711685, 16715780]);
    expect(() => parseTunnelKeys('[0]', 'ns/a')).toThrow('[0]: must be at least 1, is 0');
    expect(() => parseTunnelKeys('[16777216]', 'ns/a')).toThrow(ApiError);
  });

  it('address pairs leave out the family that is not there', () => {
    expect(formatAddressPair([parseInterfaceAddress('100.88.0.2/16')])).toBe('{"ipv4":"100.88.0.2/16"}');
    expect(parseTransitAddresses('{"ipv4":"100.88.0.2/16","ipv6":"fd97::2/64"}', 'n')).toEqual([
      '100.88.0.2/16',
      'fd97::2/64',
    ]);
    expect(parsePrimaryAddresses('{"ipv4":"192.168.1.10/24","ipv6":""}', 'n')).toEqual(['192.168.1.10/24']);
    expect(() => parseTransitAddresses('{"ipv4":"fd97::2/64"}', 'n')).toThrow('ipv4: "fd97::2/64" is not an IPv4');
  });

  it('host-cidrs is sorted text', () => {
    const addresses = ['fd00::5/64', '10.0.0.5/24', '10.0.0.5/24'].map(parseInterfaceAddress);
    expect(formatHostCidrs(addresses)).toBe('["10.0.0.5/24","fd00::5/64"]');
    expect(parseHostCidrs(formatHostCidrs(addresses), 'n')).toEqual(['10.0.0.5/24', 'fd00::5/64']);
    expect(parseEncapIps(formatEncapIps([parseIp('10.0.0.5')]), 'n')).toEqual(['10.0.0.5']);
  });

  it('address pairs read back what they write', () => {
    fc.assert(
      fc.property(fc.option(address4), fc.option(address6), (ipv4, ipv6) => {
        const pair = [ipv4, ipv6].filter((one): one is InterfaceAddress => one !== null);
        expect(parseTransitAddresses(formatAddressPair(pair), 'n')).toEqual(pair);
      }),
    );
  });
});

describe('l3-gateway-config', () => {
  const text =
    '{"default":{"mode":"shared","bridge-id":"breth0","interface-id":"breth0_worker1","mac-address":"0a:58:c0:a8:7e:ca","ip-addresses":["192.168.126.202/24"],"ip-address":"192.168.126.202/24","next-hops":["192.168.126.1"],"next-hop":"192.168.126.1","node-port-enable":"true","vlan-id":"0"}}';

  it('has the text that other readers know', () => {
    expect(formatL3GatewayConfig(parseL3GatewayConfig(text, 'worker1'))).toBe(text);
  });

  it('fills in what older writers left out', () => {
    const old =
      '{"default":{"mode":"local","interface-id":"breth0_w","mac-address":"7e:57:f8:f0:3c:49","ip-address":"169.254.33.2/24","next-hop":"169.254.33.1"}}';
    expect(parseL3GatewayConfig(old, 'w')).toEqual({
      mode: 'local',
      bridgeId: 'breth0',
      interfaceId: 'breth0_w',
      mac: '7e:57:f8:f0:3c:49',
      ipAddresses: ['169.254.33.2/24'],
      nextHops: ['169.254.33.1'],
      nodePortEnable: false,
      vlanId: 0,
    });
  });

  it('says which field is missing, and which contradicts another', () => {
    expect(() => parseL3GatewayConfig('{"default":{"mode":"shared"}}', 'n')).toThrow(
      'default.mac-address: is required',
    );
    expect(() => parseL3GatewayConfig('{"default":{"mode":"routed"}}', 'n')).toThrow(
      'default.mode: must be "shared" or "local" or "disabled", is "routed"',
    );
    expect(() =>
      parseL3GatewayConfig(text.replace('"ip-address":"192.168.126.202/24"', '"ip-address":"10.0.0.1/24"'), 'n'),
    ).toThrow(expect.objectContaining({ code: 'ERR_API_RULE', field: 'default.ip-address' }));
    expect(parseL3GatewayConfig('{"default":{"mode":"disabled"}}', 'n')).toEqual({ mode: 'disabled' });
    expect(formatL3GatewayConfig({ mode: 'disabled' })).toBe('{"default":{"mode":"disabled"}}');
  });

  it('reads back what it writes', () => {
    const config = fc.record({
      mode: fc.constantFrom('shared' as const, 'local' as const),
      bridgeId: fc.stringMatching(/^[a-z]{2,8}$/),
      interfaceId: fc.stringMatching(/^[a-z]{2,8}_[a-z]{1,5}$/),
      mac: ip4.map(macFromIp),
      ipAddresses: fc.array(fc.oneof(address4, address6), { minLength: 1, maxLength: 3 }),
      nextHops: fc.array(fc.oneof(ip4, ip6), { maxLength: 3 }),
      nodePortEnable: fc.boolean(),
      vlanId: fc.integer({ min: 0, max: 4094 }),
    });
    fc.assert(
      fc.property(config, (value: L3GatewayConfig) => {
        expect(parseL3GatewayConfig(formatL3GatewayConfig(value), 'n')).toEqual(value);
      }),
    );
  });
});

describe('pod-networks', () => {
  const text =
    '{"default":{"ip_addresses":["10.244.0.3/24"],"mac_address":"0a:58:0a:f4:00:03","routes":[{"dest":"10.244.0.0/16","nextHop":"10.244.0.1"},{"dest":"100.64.0.0/16","nextHop":"10.244.0.1"}],"ip_address":"10.244.0.3/24","role":"infrastructure-locked"},"udn-test/l3-primary":{"ip_addresses":["10.20.2.5/24"],"mac_address":"0a:58:0a:14:02:05","gateway_ips":["10.20.2.1"],"routes":[{"dest":"10.20.0.0/16","nextHop":"10.20.2.1"},{"dest":"10.96.0.0/16","nextHop":"10.20.2.1"},{"dest":"100.65.0.0/16","nextHop":"10.20.2.1"}],"ip_address":"10.20.2.5/24","gateway_ip":"10.20.2.1","role":"primary"}}';

  it('has the text of OKEP-5193', () => {
    expect(formatPodNetworks(parsePodNetworks(text, 'udn-test/client'))).toBe(text);
  });

  it.each([
    ['{"default":{"mac_address":"x"}}', 'default.mac_address: "x" is not a MAC address'],
    ['{"default":{}}', 'default.mac_address: is required'],
    ['[]', 'must be a map, is an array'],
    ['{', 'not JSON: '],
    [
      entry('"ip_addresses":["10.0.0.2/24"],"ip_address":"10.0.0.3/24"'),
      'default.ip_address: "10.0.0.3/24" is not the first',
    ],
    [entry('"gateway_ips":["10.0.0.1"],"gateway_ip":"10.0.0.2"'), 'default.gateway_ip: "10.0.0.2" is not the first'],
    [
      entry('"routes":[{"dest":"0.0.0.0/0","nextHop":"10.0.0.1"}]'),
      'default.routes[0].dest: default route 0.0.0.0/0 should be',
    ],
    [
      entry('"routes":[{"dest":"10.0.0.0/8","nextHop":"fd00::1"}]'),
      'default.routes[0].nextHop: next hop fd00::1 is of another',
    ],
    [
      entry('"ipv6_lla_gateway_ip":"fd00::1"'),
      'default.ipv6_lla_gateway_ip: "fd00::1" is not an IPv6 link-local address',
    ],
    [entry('"tunnel_id":40000'), 'default.tunnel_id: "40000" is not a port key'],
    [entry('"role":"Primary"'), 'default.role: must be "primary" or'],
  ])('refuses %s', (bad, message) => {
    expect(() => parsePodNetworks(bad, 'ns/pod')).toThrow(message);
    expect(() => parsePodNetworks(bad, 'ns/pod')).toThrow(ApiError);
  });

  it('accepts a route on the link and the fields of old writers', () => {
    const networks = parsePodNetworks(
      entry(
        '"ip_address":"10.0.0.2/24","gateway_ip":"10.0.0.1","routes":[{"dest":"10.0.0.0/8","nextHop":""}],"tunnel_id":0',
      ),
      'ns/pod',
    );
    expect(networks.get('default')).toEqual({
      ipAddresses: ['10.0.0.2/24'],
      mac: '0a:58:0a:00:00:02',
      gatewayIps: ['10.0.0.1'],
      routes: [{ dest: '10.0.0.0/8' }],
    });
  });

  it('reads back what it writes', () => {
    const route = fc.oneof(
      fc.record({ dest: network4, nextHop: fc.option(ip4, { nil: undefined }) }),
      fc.record({ dest: network6, nextHop: fc.option(ip6, { nil: undefined }) }),
    );
    const value = fc.record({
      ipAddresses: fc.array(fc.oneof(address4, address6), { maxLength: 2 }),
      mac: ip4.map(macFromIp),
      gatewayIps: fc.array(fc.oneof(ip4, ip6), { maxLength: 2 }),
      routes: fc.array(route, { maxLength: 4 }),
      ipv6LlaGatewayIp: fc.option(fc.constant<Ip>(parseIp('fe80::858:64ff:fec8:1')), { nil: undefined }),
      tunnelId: fc.option(fc.integer({ min: 1, max: 32_767 }), { nil: undefined }),
      role: fc.constantFrom('primary', 'secondary', 'infrastructure-locked', undefined),
    });
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,5}\/[a-z]{1,5}$/), value), (entries) => {
        const networks = new Map(Object.entries(entries)) as unknown as Map<string, PodNetworkEntry>;
        expect(parsePodNetworks(formatPodNetworks(networks), 'ns/p')).toEqual(networks);
        for (const one of networks.values())
          expect(parsePodNetworkEntry(podNetworkEntryJson(one), 'ns/p')).toEqual(one);
      }),
    );
  });

  function entry(fields: string): string {
    return `{"default":{"mac_address":"0a:58:0a:00:00:02",${fields}}}`;
  }
});
