import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { parseNetConf } from '../../api/net-conf.ts';
import { type Network, networkOfNetConf } from '../../api/network.ts';
import { Wires } from './wires.ts';

const localnet = (name: string, subnets: string, more: object = {}): Network => {
  const config = {
    ...{ cniVersion: '1.1.0', type: 'ovn-k8s-cni-overlay', name, netAttachDefName: `a/${name}` },
    ...{ topology: 'localnet', role: 'secondary', physicalNetworkName: 'dc', subnets, ...more },
  };
  return networkOfNetConf(parseNetConf(JSON.stringify(config), { namespace: 'a', name })!, parseClusterConfig());
};

const first = localnet('first', '10.30.0.0/24,fd30::/64');
const entered = (...networks: readonly Network[]): Wires => {
  const wires = new Wires();
  for (const network of networks) wires.enter(network);
  return wires;
};

it.each([
  ['the same addresses', localnet('second', '10.30.0.0/24')],
  ['some of them', localnet('second', '10.30.0.128/25')],
  ['some of the other family', localnet('second', '10.31.0.0/24,fd30::/48')],
  ['more than it excludes', localnet('second', '10.30.0.0/24', { excludeSubnets: '10.30.0.0/25,10.30.0.192/26' })],
])('a localnet that would give %s on the wire of another one is refused', (_, second) => {
  const wires = entered(first);
  expect(wires.refuse(second)).toMatch(/^its pods and those of network first would get the same addresses of /);
  expect(wires.refuse(first)).toBeUndefined();
});

it.each([
  ['on another VLAN', localnet('second', '10.30.0.0/24', { vlanID: 7 })],
  ['on another physical network', localnet('second', '10.30.0.0/24', { physicalNetworkName: 'lab' })],
  ['without IPAM', localnet('second', '')],
  ['with subnets of its own', localnet('second', '10.31.0.0/24')],
  ['that excludes what the other has', localnet('second', '10.30.0.0/16', { excludeSubnets: '10.30.0.0/24' })],
  ['that it is itself', first],
])('a localnet %s is not', (_, second) => {
  expect(entered(first).refuse(second)).toBeUndefined();
});

it('what either excludes is the other’s', () => {
  const low = localnet('low', '10.30.0.0/24', { excludeSubnets: '10.30.0.128/25' });
  const high = localnet('high', '10.30.0.0/24', { excludeSubnets: '10.30.0.0/25' });
  expect(entered(low).refuse(high)).toBeUndefined();
});

it('the first keeps what it has, and takes nothing of the second', () => {
  const second = localnet('second', '10.31.0.0/24');
  const wires = entered(first, second);
  expect(wires.refuse(localnet('first', '10.30.0.0/15'))).toMatch(/network second would get/);
  const both = entered(first, localnet('second', '10.30.0.0/24'));
  expect(both.refuse(first)).toBeUndefined();
  expect(both.refuse(localnet('second', '10.30.0.0/24'))).toMatch(/network first would get/);
});

it('who was refused is named when the other leaves, moves or makes room, and not after it is gone itself', () => {
  const second = localnet('second', '10.30.0.0/24');
  for (const change of [
    (wires: Wires) => wires.leave('first'),
    (wires: Wires) => wires.enter(localnet('first', '10.30.0.0/24', { vlanID: 7 })),
    (wires: Wires) => wires.enter(localnet('first', '10.40.0.0/24')),
  ]) {
    const wires = entered(first);
    wires.refuse(second);
    expect(wires.freed()).toEqual([]);
    change(wires);
    expect(wires.freed()).toEqual(['second']);
    expect(wires.freed()).toEqual([]);
  }
  const wires = entered(first);
  wires.refuse(second);
  wires.leave('second');
  wires.leave('first');
  expect(wires.freed()).toEqual([]);
});
