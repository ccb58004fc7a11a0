import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import type { KubeObject } from '../../kube/types.ts';
import { FactStore } from '../model/fact-store.ts';
import { NodeIndex } from './node-index.ts';
import { type NodeProjection, projectNode } from './node-projection.ts';

const setUp = (own?: string) => {
  const facts = new FactStore();
  const mirror = new Map<string, NodeProjection>();
  const index = new NodeIndex(facts, { cluster: parseClusterConfig(), own, get: (name) => mirror.get(name) });
  const put = (
    name: string,
    second: number,
    annotations?: Partial<Record<keyof typeof NODE_ANNOTATIONS, string>>,
    internalIps: readonly string[] = [],
  ): void => {
    if (annotations === undefined) mirror.delete(name);
    else {
      const named = Object.entries(annotations).map(([key, value]) => [
        NODE_ANNOTATIONS[key as keyof typeof NODE_ANNOTATIONS],
        value,
      ]);
      const metadata = {
        name,
        uid: name,
        creationTimestamp: `2026-01-01T00:00:0${second}Z`,
        annotations: Object.fromEntries(named),
      };
      const status = { addresses: internalIps.map((address) => ({ type: 'InternalIP', address })) };
      mirror.set(name, projectNode({ metadata, status } as unknown as KubeObject));
    }
    index.change(name, mirror.get(name));
  };
  const known = (): string[] => [...facts.ids('node')].sort();
  return { put, known, index, facts };
};

const GATEWAY = (address: string): string =>
  JSON.stringify({
    default: {
      mode: 'shared',
      'bridge-id': 'br-ex',
      'interface-id': 'br-ex_n',
      'mac-address': '02:00:00:00:00:01',
      'ip-addresses': [address],
      'next-hops': ['172.18.0.1'],
      'node-port-enable': 'true',
    },
  });

describe('of two nodes that have one', () => {
  it.each([
    ['chassis', { chassisId: 'c' }, 'its chassis id c'],
    ['node id', { id: '7' }, 'its node id 7'],
    ['transit address', { transitAddresses: '{"ipv4":"100.88.0.2/16"}' }, 'its transit address 100.88.0.2'],
  ])('%s the older counts, whichever is seen first, and the other when it is gone', (_, same, what) => {
    for (const [first, second] of [
      [1, 2],
      [2, 1],
    ] as const) {
      const it = setUp();
      const older = first < second ? 'b' : 'a';
      const newer = older === 'a' ? 'b' : 'a';
      it.put('b', first, { ...same, hostCidrs: '["172.18.0.9/16"]', subnets: '{"default":["10.128.0.0/23"]}' });
      it.put('a', second, { ...same, hostCidrs: '["172.18.0.9/16"]', subnets: '{"default":["10.128.2.0/23"]}' });
      expect(it.known()).toEqual([older]);
      expect(it.facts.get('refusedNode', newer)).toBe(`${what} already belongs to node ${older}`);
      expect([...it.facts.ids('nodeSubnets'), ...it.facts.ids('hostAddresses')]).toEqual([`${older}/default`, older]);
      expect(it.index.problems).toEqual([
        { object: `Node/${newer}`, message: `${what} already belongs to node ${older}; the node is not programmed` },
      ]);
      it.put(older, 0);
      expect([it.known(), it.index.problems, it.facts.get('refusedNode', newer)]).toEqual([[newer], [], undefined]);
    }
  });
});

it('of two with one address on the underlay the older has it, and nobody sends anything to the other', () => {
  const it = setUp();
  const same = { encapIps: '["172.18.0.2"]', gatewayConfig: GATEWAY('172.18.0.2/16') };
  it.put('b', 2, same);
  it.put('a', 1, same);
  expect([it.known(), it.facts.get('node', 'b')?.encapIps, it.facts.get('gateway', 'b')]).toEqual([
    ['a', 'b'],
    [],
    undefined,
  ]);
  expect([it.facts.get('node', 'a')?.encapIps, it.facts.get('gateway', 'a')?.addresses]).toEqual([
    ['172.18.0.2'],
    ['172.18.0.2/16'],
  ]);
  expect(it.index.problems.map(({ message }) => message)).toEqual([
    "its tunnels' address 172.18.0.2 already belongs to node a; no tunnel to the node is programmed",
    "its gateway's address 172.18.0.2 already belongs to node a; other nodes cannot use its gateway",
  ]);
  it.put('a', 1);
  expect([it.facts.get('node', 'b')?.encapIps, it.index.problems]).toEqual([['172.18.0.2'], []]);
});

it('an address on the underlay is the node’s whose status has it, though an older one says it is its own', () => {
  const it = setUp();
  const same = { encapIps: '["172.18.0.2"]', gatewayConfig: GATEWAY('172.18.0.2/16') };
  it.put('a', 1, same, ['172.18.0.1']);
  expect(it.facts.get('node', 'a')?.encapIps).toEqual(['172.18.0.2']);
  it.put('b', 2, {}, ['172.18.0.2']);
  expect(it.facts.get('node', 'a')?.encapIps).toEqual([]);
  it.put('b', 2, same, ['172.18.0.2']);
  expect([it.facts.get('node', 'b')?.encapIps, it.facts.get('gateway', 'a')]).toEqual([['172.18.0.2'], undefined]);
  expect(it.index.problems.map(({ object, message }) => [object, message])).toEqual([
    ['Node/a', "its tunnels' address 172.18.0.2 already belongs to node b; no tunnel to the node is programmed"],
    ['Node/a', "its gateway's address 172.18.0.2 already belongs to node b; other nodes cannot use its gateway"],
  ]);
});

it('what a Node’s status says refuses nobody who has the address there, too, and claims nothing else', () => {
  const it = setUp();
  it.put('a', 1, { encapIps: '["172.18.0.1"]' }, ['172.18.0.1', '172.18.0.9']);
  it.put('b', 2, { encapIps: '["172.18.0.2"]' }, ['172.18.0.2', '172.18.0.9']);
  expect([it.facts.get('node', 'b')?.encapIps, it.index.problems]).toEqual([['172.18.0.2'], []]);
});

it('of nodes of one second the first by name counts', () => {
  const it = setUp();
  it.put('b', 1, { chassisId: 'c' });
  it.put('a', 1, { chassisId: 'c' });
  expect(it.known()).toEqual(['a']);
});

it('a node whose name is that of other rows is none', () => {
  const it = setUp();
  it.put('join', 1, { chassisId: 'c' });
  expect([it.known(), it.index.problems[0]?.message]).toEqual([
    [],
    'its switches would be the join switches of the networks; the node is not programmed',
  ]);
  it.put('later', 2, { chassisId: 'c' });
  expect(it.known()).toEqual(['later']);
});

it('addresses of pods, Services and routers are no node’s', () => {
  const it = setUp();
  it.put('a', 1, {
    hostCidrs: '["172.16.1.1/24","10.128.0.5/23","172.18.0.2/16"]',
    gatewayConfig: GATEWAY('172.16.1.1/24'),
  });
  expect(it.facts.get('hostAddresses', 'a')).toEqual(['172.18.0.2/16']);
  expect(it.facts.get('gateway', 'a')).toBeUndefined();
  expect(it.index.problems.map(({ message }) => message)).toContain(
    'k8s.ovn.org/host-cidrs: 10.128.0.5 is in the cluster subnet 10.128.0.0/14, which is not for nodes',
  );
});

it.each([
  ['127.0.0.1', 'loopback addresses 127.0.0.0/8'],
  ['::1', 'loopback address ::1/128'],
  ['0.0.0.0', 'unspecified addresses 0.0.0.0/8'],
  ['::', 'unspecified address ::/128'],
  ['224.0.0.1', 'multicast addresses 224.0.0.0/4'],
  ['ff02::1', 'multicast addresses ff00::/8'],
  ['255.255.255.255', 'broadcast address 255.255.255.255/32'],
  ['169.254.169.254', 'link-local addresses 169.254.0.0/16'],
  ['fe80::2', 'link-local addresses fe80::/10'],
  ['10.129.0.2', 'cluster subnet 10.128.0.0/14'],
  ['172.16.1.10', 'service subnet 172.16.1.0/24'],
  ['100.64.0.2', 'join subnet 100.64.0.0/16'],
  ['100.65.0.2', 'join subnet 100.65.0.0/16'],
  ['100.88.0.2', 'transit subnet 100.88.0.0/16'],
  ['fd97::2', 'transit subnet fd97::/64'],
  ['169.254.0.12', 'masquerade subnet 169.254.0.0/17'],
  ['fd69::c', 'masquerade subnet fd69::/112'],
])('no tunnel leads to %s, and nothing else to what is no host’s', (ip, range) => {
  const it = setUp();
  it.put('a', 1, { encapIps: JSON.stringify([ip, '172.18.0.2']), hostCidrs: JSON.stringify([`${ip}/32`]) });
  expect([it.facts.get('node', 'a')?.encapIps, it.facts.get('hostAddresses', 'a')]).toEqual([['172.18.0.2'], []]);
  expect(it.index.problems).toEqual(
    ['node-encap-ips', 'host-cidrs'].map((annotation) => ({
      object: 'Node/a',
      message: `k8s.ovn.org/${annotation}: ${ip} is in the ${range}, which is not for nodes`,
      severity: 'warning',
    })),
  );
});

it('a node’s place between the routers is in the transit subnets', () => {
  const it = setUp();
  const readAddresses = (transit: object): readonly unknown[] => {
    it.put('a', 1, { transitAddresses: JSON.stringify(transit) });
    return [it.facts.get('node', 'a')?.transitAddresses, it.index.problems.map(({ message }) => message)];
  };
  const key = 'k8s.ovn.org/node-transit-switch-port-ifaddr';
  expect(readAddresses({ ipv4: '100.88.0.2/16', ipv6: 'fd97::2/64' })).toEqual([['100.88.0.2/16', 'fd97::2/64'], []]);
  expect(readAddresses({ ipv4: '10.128.0.1/16', ipv6: 'fd97::2/64' })).toEqual([
    ['fd97::2/64'],
    [`${key}: 10.128.0.1/16 is in no transit subnet (100.88.0.0/16, fd97::/64)`],
  ]);
  expect(readAddresses({ ipv4: '100.88.0.2/1' })).toEqual([
    [],
    [`${key}: 100.88.0.2/1 does not have the prefix length of the transit subnet 100.88.0.0/16`],
  ]);
});

it('leaves alone what this node’s own agent knows', () => {
  const it = setUp('a');
  it.put('a', 1, { hostCidrs: '["172.18.0.2/16"]', gatewayConfig: GATEWAY('172.18.0.2/16') });
  expect([it.facts.get('hostAddresses', 'a'), it.facts.get('gateway', 'a')]).toEqual([undefined, undefined]);
});
