import { expect, it } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { parseMac } from '../../net/mac.ts';
import { projectNode } from '../inputs/node-projection.ts';
import type { GatewayFact } from '../model/facts.ts';
import { type NodeIdentity, nodeAnnotations } from './annotations.ts';

const gateway: GatewayFact = {
  mode: 'shared',
  bridge: 'br-ex',
  interfaceId: 'br-ex_n1',
  mac: parseMac('02:00:00:00:00:0b'),
  addresses: [parseInterfaceAddress('172.20.0.11/24'), parseInterfaceAddress('fd00:172:20::b/64')],
  nextHops: [parseIp('172.20.0.1')],
  nodePortEnable: true,
  vlanId: 0,
  uplink: 'eth0',
};
const identity: NodeIdentity = {
  name: 'n1',
  chassisId: 'c1',
  encapIps: [parseIp('172.20.0.11')],
  gateway,
  hostAddresses: gateway.addresses,
  masqueradeSubnets: [parseCidr('169.254.0.0/17'), parseCidr('fd69::/112')],
  canCheckMtu: true,
};
const KEY = 'k8s.ovn.org/';

it('says what other nodes need to know', () => {
  expect(nodeAnnotations(identity)).toEqual({
    [`${KEY}node-chassis-id`]: 'c1',
    [`${KEY}node-encap-ips`]: '["172.20.0.11"]',
    [`${KEY}zone-name`]: 'n1',
    [`${KEY}l3-gateway-config`]:
      '{"default":{"mode":"shared","bridge-id":"br-ex","interface-id":"br-ex_n1","mac-address":"02:00:00:00:00:0b",' +
      '"ip-addresses":["172.20.0.11/24","fd00:172:20::b/64"],"next-hops":["172.20.0.1"],"next-hop":"172.20.0.1",' +
      '"node-port-enable":"true","vlan-id":"0"}}',
    [`${KEY}node-primary-ifaddr`]: '{"ipv4":"172.20.0.11/24","ipv6":"fd00:172:20::b/64"}',
    [`${KEY}host-cidrs`]: '["172.20.0.11/24","fd00:172:20::b/64"]',
    [`${KEY}node-masquerade-subnet`]: '{"ipv4":"169.254.0.0/17","ipv6":"fd69::/112"}',
    [`${KEY}gateway-mtu-support`]: null,
  });
});

it('is read back as what it was, but for the uplink, which concerns nobody else', () => {
  const annotations = Object.fromEntries(
    Object.entries(nodeAnnotations({ ...identity, canCheckMtu: false })).flatMap(([key, value]) =>
      value === null ? [] : [[key, value]],
    ),
  );
  const metadata = { name: 'n1', uid: 'u', resourceVersion: '1', annotations };
  const { gateway: read, hostAddresses, fact } = projectNode({ apiVersion: 'v1', kind: 'Node', metadata });
  const { uplink: _, ...published } = gateway;
  expect([read, hostAddresses, fact.gatewayMtuSupport]).toEqual([published, gateway.addresses, false]);
});

it('says nothing of what is not known', () => {
  const unknown = { ...identity, gateway: undefined, hostAddresses: undefined, canCheckMtu: undefined };
  expect(Object.keys(nodeAnnotations(unknown))).toHaveLength(3);
});

it('says that there is no gateway', () => {
  expect(nodeAnnotations({ ...identity, gateway: 'disabled' })).toMatchObject({
    [`${KEY}l3-gateway-config`]: '{"default":{"mode":"disabled"}}',
    [`${KEY}node-primary-ifaddr`]: null,
  });
});
