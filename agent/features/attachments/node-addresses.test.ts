import { expect, it } from 'vitest';
import { parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { emptyCluster } from '../../../test/unit/golden/worked-cluster.ts';
import { DUAL } from '../../testing/bridge-flows.ts';

const refusal = (address: string, { vlanId = 0, bridge = 'br-ex' } = {}): string | undefined => {
  const cluster = emptyCluster(DUAL)
    .namespace('red', false)
    .network('red_lan', {
      ...{ id: 7, topology: 'localnet', role: 'secondary', namespace: 'red', nad: 'lan', subnets: ['172.30.0.0/24'] },
      physical: { name: 'physnet', ...(vlanId > 0 && { vlanId }) },
    })
    .mapped('physnet', bridge)
    .pod('red/a', {
      node: 'node1',
      networks: { default: { ips: ['10.128.0.9/23'] }, 'red/lan': { ips: [address], role: 'secondary' } },
      selects: 'lan',
    });
  cluster.facts.set('hostAddresses', 'node1', [parseInterfaceAddress('172.30.0.99/24')]);
  cluster.facts.set('nodeAddress', parseIp('172.30.0.55'), true);
  cluster.render();
  return cluster.sinks.attachments.get('attachments:red/a')?.refused;
};

it.each([
  ['172.30.0.1/24', 'the next hop of node node1'],
  ['172.30.0.2/24', 'an address of node node1'],
  ['172.30.0.99/24', 'an address of node node1'],
  ['172.30.0.55/24', 'an address of another node'],
])('a pod of a localnet that is given %s is refused: it is %s', (address, what) => {
  expect(refusal(address)).toBe(`${address.split('/')[0]} is ${what}: excludeSubnets of network red_lan lacks it`);
});

it('another address, another VLAN and another bridge are nobody’s', () => {
  expect(refusal('172.30.0.7/24')).toBeUndefined();
  expect(refusal('172.30.0.1/24', { vlanId: 100 })).toBeUndefined();
  expect(refusal('172.30.0.1/24', { bridge: 'br-dc' })).toBeUndefined();
});
