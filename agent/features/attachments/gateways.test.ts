import { expect, it } from 'vitest';
import { type NetworkInput, TestCluster } from '../../testing/cluster.ts';

/** Of a pod whose first selection has the gateways. */
const refusal = (
  gateways: readonly string[],
  network: Partial<NetworkInput> = {},
  { more = {}, ips = [] as readonly string[] } = {},
): string | undefined => {
  const cluster = new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'] } })
    .namespace('red')
    .network('red_flat', {
      ...{ id: 7, topology: 'layer2', role: 'secondary', namespace: 'red', nad: 'flat' },
      subnets: ['10.90.0.0/24', 'fd00:90::/64'],
      ...network,
    })
    .subnets('node1', 'red_flat', network.topology === 'layer3' ? ['10.90.1.0/24'] : [])
    .mapped('physnet', 'br-dc')
    .pod('red/a', {
      node: 'node1',
      networks: ips.length === 0 ? {} : { 'red/flat': { ips, role: 'secondary' } },
      selects: JSON.stringify([{ name: 'flat', 'default-route': gateways, ...more }]),
    });
  cluster.render();
  return cluster.sinks.attachments.get('attachments:red/a')?.refused;
};

const because = (gateway: string, reason: string): string =>
  `red/flat as net1: default-route: gateway ${gateway} ${reason}`;

it('a gateway has to be a neighbour', () => {
  expect(refusal(['10.90.0.250', 'fd00:90::250'])).toBeUndefined();
  expect(refusal(['fe80::1'])).toBeUndefined();
  const nobody =
    'is in no subnet of the interface, 10.90.0.0/24, fd00:90::/64: no host of network red_flat answers for it';
  expect(refusal(['192.0.2.1'])).toBe(because('192.0.2.1', nobody));
  expect(refusal(['10.90.0.250', 'fd00:91::1'])).toBe(because('fd00:91::1', nobody));
});

it('on layer 3 it is on the node’s subnet', () => {
  const layer3 = { topology: 'layer3', subnets: ['10.90.0.0/16'] } as const;
  expect(refusal(['10.90.1.1'], layer3)).toBeUndefined();
  expect(refusal(['10.90.2.1'], layer3)).toMatch('gateway 10.90.2.1 is in no subnet of the interface, 10.90.1.0/24:');
});

it('of a family that the network lacks there is none', () => {
  const none = (gateway: string, family: number): string =>
    because(gateway, `is of no use: network red_flat has no IPv${family} addresses`);
  expect(refusal(['fd00::1'], { subnets: ['10.90.0.0/24'] })).toBe(none('fd00::1', 6));
  expect(refusal(['fe80::1'], { subnets: ['10.90.0.0/24'] })).toBe(none('fe80::1', 6));
  expect(refusal(['10.0.0.1'], { subnets: ['fd00:90::/64'] })).toBe(none('10.0.0.1', 4));
});

it('hosts of a physical network, and pods without IPAM, may have any address', () => {
  const physical = { topology: 'localnet', physical: { name: 'physnet' } } as const;
  expect(refusal(['192.0.2.1'], physical)).toBeUndefined();
  expect(refusal(['192.0.2.1'], { subnets: [] })).toBeUndefined();
  // An interface without addresses of IPv6 has none of it.
  expect(refusal(['fd00::1'], { subnets: [] })).toMatch('red_flat has no IPv6 addresses');
});

it('the pod is not its own gateway, whether it asked for the address or was given it', () => {
  const own = because('10.90.0.5', 'is the pod’s own address');
  expect(refusal(['10.90.0.5'], {}, { more: { ips: ['10.90.0.5', 'fd00:90::5'] } })).toBe(own);
  expect(refusal(['10.90.0.5'], {}, { ips: ['10.90.0.5/24'] })).toBe(own);
});
