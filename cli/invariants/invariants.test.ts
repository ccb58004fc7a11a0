/** Everything that must not be is found, and what the programs make is never blamed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { NAD_ANNOTATIONS, NODE_ANNOTATIONS, POD_ANNOTATIONS } from '../../api/names.ts';
import { completeManifests } from '../../cluster-manager/offline/complete-manifests.ts';
import { cudn, layer2Udn, layer3Udn, nad, netConf, node, pod, tenant } from '../../cluster-manager/testing/objects.ts';
import { ids, nadOf, settledNetwork, settledNode } from '../why/testing/objects.ts';
import { violationsOf } from './invariants.ts';
import { RULES, type Rule } from './violation.ts';

const l2 = settledNetwork(layer2Udn('red/net', ['10.100.0.0/16']));
const l3 = settledNetwork(layer3Udn('red/three', ['10.7.0.0/16']));
const keys = { ...ids('red_net', 5), [NAD_ANNOTATIONS.tunnelKeys]: '[16711688,16715779]' };
const l2Nad = nadOf(l2, 'red', {}, { annotations: keys });
const l3Nad = nadOf(
  l3,
  'red',
  { topology: 'layer3', subnets: '10.7.0.0/16/24', role: 'secondary' },
  { annotations: ids('red_three', 6) },
);
const n1 = settledNode('n1', { red_three: ['10.7.0.0/24'] });
const withId = (name: string, id: string, subnets: object) => {
  const one = settledNode(name, { ...subnets });
  const annotations = { ...(one.metadata['annotations'] as object), [NODE_ANNOTATIONS.id]: id };
  return { ...one, metadata: { ...one.metadata, annotations } };
};
const n2 = withId('n2', '3', { default: ['10.128.2.0/23'], red_three: ['10.7.1.0/24'] });

const has = (key: string, entries: object, spec: object = {}) =>
  pod(key, { annotations: { [POD_ANNOTATIONS.networks]: JSON.stringify(entries) } }, { ...spec });
const entry = (address: string, mac: string, more: object = {}) => ({
  ip_addresses: [address],
  mac_address: mac,
  ...more,
});
const p1 = has('red/p1', {
  default: entry('10.128.0.5/23', '0a:58:0a:80:00:05'),
  'red/net': entry('10.100.0.5/16', '0a:58:0a:64:00:05', { tunnel_id: 10 }),
  'red/three': entry('10.7.0.5/24', '0a:58:0a:07:00:05'),
});
const WELL = [tenant('red'), l2, l3, l2Nad, l3Nad, n1, n2, p1];

const claim = (key: string, address: string) => {
  const [namespace, name] = key.split('/');
  const spec = { network: 'red_net', interface: 'ovn-udn1' };
  return { kind: 'IPAMClaim', metadata: { namespace, name }, spec, status: { ips: [address] } };
};
const blue = (annotations: object) => nad('blue/x', netConf('blue/x', 'other', { role: 'secondary' }), { annotations });

interface Case {
  readonly what: string;
  readonly more: readonly unknown[];
  readonly rule: Rule;
  readonly expectedText: string;
}

const CASES: readonly Case[] = [
  {
    what: 'a network id twice',
    more: [blue(ids('other', 5))],
    rule: 'network-id',
    expectedText: 'network id 5 is allocated to both network red_net and network other',
  },
  {
    what: 'two ids of one network',
    more: [
      nad('blue/net', netConf('blue/net', 'red_net', { subnets: '10.100.0.0/16' }), { annotations: ids('red_net', 7) }),
    ],
    rule: 'network-id',
    expectedText: 'network red_net has the id 5 and 7',
  },
  {
    what: 'the id of the default network',
    more: [blue(ids('other', 0))],
    rule: 'network-id',
    expectedText: 'id of the default network',
  },
  {
    what: 'a status that says otherwise',
    more: [settledNetwork(layer2Udn('red/net', ['10.100.0.0/16']), { networkID: 9 })],
    rule: 'network-id',
    expectedText: 'its status has network id 9',
  },
  {
    what: 'an id that is no number',
    more: [blue({ [NAD_ANNOTATIONS.networkId]: 'x' })],
    rule: 'unreadable',
    expectedText: 'network-id',
  },
  {
    what: 'a tunnel key twice',
    more: [blue({ ...ids('other', 8), [NAD_ANNOTATIONS.tunnelKeys]: '[16711691,16715779]' })],
    rule: 'tunnel-key',
    expectedText: 'tunnel key 16715779 is allocated to both network red_net and network other',
  },
  {
    what: 'a tunnel key of another id',
    more: [blue({ ...ids('other', 8), [NAD_ANNOTATIONS.tunnelKeys]: '[16711700,16715780]' })],
    rule: 'tunnel-key',
    expectedText: 'does not follow from its id 8',
  },
  {
    what: 'a tunnel key from where OVN takes its own',
    more: [blue({ ...ids('other', 8), [NAD_ANNOTATIONS.tunnelKeys]: '[16711691,5]' })],
    rule: 'tunnel-key',
    expectedText: 'tunnel key 5 of network other is not from',
  },
  {
    what: 'a node id twice',
    more: [withId('n3', '3', { default: ['10.128.4.0/23'] })],
    rule: 'node-id',
    expectedText: 'node id 3 is allocated to both node n2 and node n3',
  },
  {
    what: 'a reserved node id',
    more: [withId('n3', '1', { default: ['10.128.4.0/23'] })],
    rule: 'node-id',
    expectedText: 'node id 1 is not from 2',
  },
  {
    what: 'transit addresses twice',
    more: [
      node('n3', { [NODE_ANNOTATIONS.transitAddresses]: '{"ipv4":"100.88.0.9/16"}' }),
      node('n4', { [NODE_ANNOTATIONS.transitAddresses]: '{"ipv4":"100.88.0.9/16"}' }),
    ],
    rule: 'node-id',
    expectedText: 'transit addresses',
  },
  {
    what: 'a subnet twice',
    more: [withId('n3', '4', { default: ['10.128.4.0/23'], red_three: ['10.7.1.0/24'] })],
    rule: 'node-subnet',
    expectedText: 'subnet 10.7.1.0/24 of node n2 and 10.7.1.0/24 of node n3 overlap',
  },
  {
    what: 'a subnet inside another',
    more: [withId('n3', '4', { default: ['10.128.0.0/22'] })],
    rule: 'node-subnet',
    expectedText: 'overlap in network default',
  },
  {
    what: 'a subnet of somewhere else',
    more: [withId('n3', '4', { default: ['10.128.4.0/23'], red_three: ['10.9.1.0/24'] })],
    rule: 'node-subnet',
    expectedText: 'is not in the subnets of network red_three',
  },
  {
    what: 'a subnet of another size',
    more: [withId('n3', '4', { default: ['10.128.4.0/23'], red_three: ['10.7.4.0/25'] })],
    rule: 'node-subnet',
    expectedText: 'is no /24',
  },
  {
    what: 'a subnet of a network that is gone',
    more: [withId('n3', '4', { default: ['10.128.4.0/23'], gone: ['10.9.0.0/24'] })],
    rule: 'orphan',
    expectedText: 'no such layer-3 network exists',
  },
  {
    what: 'subnets that are garbage',
    more: [node('n3', { [NODE_ANNOTATIONS.subnets]: '{' })],
    rule: 'unreadable',
    expectedText: 'node-subnets',
  },
  {
    what: 'an address twice',
    more: [has('red/p2', { 'red/net': entry('10.100.0.5/16', '0a:58:0a:64:00:06') })],
    rule: 'pod-address',
    expectedText: 'address 10.100.0.5 of network red_net is allocated to both pod red/p1 and pod red/p2',
  },
  {
    what: 'an address of the default network twice',
    more: [has('red/p2', { default: entry('10.128.0.5/23', '0a:58:0a:64:00:06') })],
    rule: 'pod-address',
    expectedText: 'address 10.128.0.5 of network default',
  },
  {
    what: 'an address of another network',
    more: [has('red/p2', { 'red/net': entry('10.9.0.6/16', '0a:58:0a:64:00:06') })],
    rule: 'pod-address',
    expectedText: 'is not in 10.100.0.0/16',
  },
  {
    what: 'an address of another node',
    more: [has('red/p2', { 'red/three': entry('10.7.1.6/24', '0a:58:0a:64:00:06') })],
    rule: 'pod-address',
    expectedText: 'is not in 10.7.0.0/24',
  },
  {
    what: 'an address with another prefix length',
    more: [has('red/p2', { 'red/net': entry('10.100.0.6/24', '0a:58:0a:64:00:06') })],
    rule: 'pod-address',
    expectedText: 'does not have the prefix length',
  },
  {
    what: 'the address of the gateway',
    more: [has('red/p2', { 'red/net': entry('10.100.0.1/16', '0a:58:0a:64:00:06') })],
    rule: 'pod-address',
    expectedText: 'is that of the gateway',
  },
  {
    what: 'a MAC twice',
    more: [has('red/p2', { 'red/net': entry('10.100.0.6/16', '0a:58:0a:64:00:05') })],
    rule: 'pod-mac',
    expectedText: 'MAC 0a:58:0a:64:00:05 of network red_net',
  },
  {
    what: 'a tunnel id twice',
    more: [has('red/p2', { 'red/net': entry('10.100.0.6/16', '0a:58:0a:64:00:06', { tunnel_id: 10 }) })],
    rule: 'pod-tunnel-id',
    expectedText: 'tunnel id 10 of network red_net',
  },
  {
    what: 'an annotation that is garbage',
    more: [pod('red/p2', { annotations: { [POD_ANNOTATIONS.networks]: '{' } })],
    rule: 'unreadable',
    expectedText: 'pod-networks',
  },
  {
    what: 'an entry that is garbage',
    more: [has('red/p2', { 'red/net': {} })],
    rule: 'unreadable',
    expectedText: 'red/net',
  },
  {
    what: 'an entry of a NAD that is gone',
    more: [has('red/p2', { 'red/gone': entry('10.100.0.6/16', '0a:58:0a:64:00:06') })],
    rule: 'orphan',
    expectedText: 'NAD red/gone, which does not exist',
  },
  {
    what: 'a NAD whose network is gone',
    more: [
      nadOf(
        settledNetwork(layer2Udn('red/old', ['10.3.0.0/16'])),
        'red',
        { role: 'secondary', subnets: '10.3.0.0/16' },
        { annotations: ids('red_old', 11) },
      ),
    ],
    rule: 'orphan',
    expectedText: 'rendered from an object that no longer exists',
  },
  {
    what: 'two claims of one address',
    more: [claim('red/a', '10.100.0.9/16'), claim('red/b', '10.100.0.9/16')],
    rule: 'claim',
    expectedText: 'allocated to both claim red/a and claim red/b',
  },
];

/** An object of the same kind and name takes the place of the one that is well. */
const withMore = (more: readonly unknown[]): unknown[] => {
  const nameOf = (one: unknown) =>
    JSON.stringify([(one as typeof l2).kind, (one as typeof l2).metadata.namespace, (one as typeof l2).metadata.name]);
  const replaced = new Set(more.map(nameOf));
  return [...WELL.filter((one) => !replaced.has(nameOf(one))), ...more];
};

it('what is well breaks nothing', () => expect(violationsOf(WELL)).toEqual([]));

describe('finds', () => {
  it.each(CASES)('$what: $rule', ({ more, rule, expectedText }) => {
    const found = violationsOf(withMore(more));
    expect(
      found
        .filter((one) => one.rule === rule)
        .map(({ message }) => message)
        .join(),
    ).toContain(expectedText);
    expect(found.every(({ objects }) => objects.length > 0)).toBe(true);
  });

  it('every rule', () => expect(new Set(CASES.map(({ rule }) => rule))).toEqual(new Set(RULES)));
});

it('NADs of other plugins hold nothing, whatever their annotations say', () => {
  const bridge = nad('red/bridge', { cniVersion: '1.0.0', type: 'bridge' }, { annotations: ids('red_other', 1) });
  expect(violationsOf([...WELL, bridge])).toEqual([]);
});

it('completed pods hold nothing, and pods of one virtual machine hold the same', () => {
  const twin = has('red/p2', { 'red/net': entry('10.100.0.5/16', '0a:58:0a:64:00:05', { tunnel_id: 10 }) });
  expect(violationsOf([...WELL, twin])).toHaveLength(3);
  expect(violationsOf([...WELL, { ...twin, status: { phase: 'Succeeded' } }])).toEqual([]);
  const ofMachine = (one: typeof p1) => ({
    ...one,
    metadata: { ...one.metadata, labels: { 'vm.kubevirt.io/name': 'vm' } },
  });
  expect(violationsOf([...WELL.filter((one) => one !== p1), ofMachine(p1), ofMachine(twin)])).toEqual([]);
});

const someCluster = fc.record({
  nodes: fc.integer({ min: 1, max: 6 }),
  udns: fc.uniqueArray(fc.record({ in: fc.constantFrom('a', 'b', 'c'), isLayer3: fc.boolean() }), {
    selector: (one) => one.in,
  }),
  hasCudn: fc.boolean(),
  pods: fc.uniqueArray(fc.record({ in: fc.constantFrom('a', 'b', 'c', 'd'), n: fc.nat(5) }), {
    selector: (one) => `${one.in}/${one.n}`,
  }),
});

it('what the cluster manager gives out breaks nothing; one value that is taken from another object is found', () => {
  const seen = new Set<string | undefined>();
  fc.assert(
    fc.property(someCluster, ({ nodes, udns, hasCudn, pods }) => {
      const shared = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.50.0.0/16'] } };
      const input = [
        ...['a', 'b', 'c'].map((name) => tenant(name)),
        tenant('d', { team: 'd' }),
        ...Array.from({ length: nodes }, (_, n) => node(`n${n + 1}`)),
        ...udns.map(({ in: of, isLayer3 }) => {
          const uid = `uid-${of}`;
          const one = isLayer3 ? layer3Udn(`${of}/net`, ['10.7.0.0/16']) : layer2Udn(`${of}/net`, ['10.8.0.0/16']);
          return { ...one, metadata: { ...one.metadata, uid } };
        }),
        ...(hasCudn ? [cudn('shop', { matchLabels: { team: 'd' } }, shared, { uid: 'uid-shop' })] : []),
        ...pods.map(({ in: of, n }) => pod(`${of}/p${n}`)),
      ];
      const { objects } = completeManifests(input, parseClusterConfig());
      expect(violationsOf(objects)).toEqual([]);
      for (const { what, objects: damaged } of theftsIn(objects)) {
        seen.add(what.split(' ')[0]);
        expect([what, violationsOf(damaged).length > 0]).toEqual([what, true]);
      }
    }),
    { numRuns: 150 },
  );
  expect(seen.size).toBe(4);
});

type Annotated = { kind: string; metadata: { name: string; annotations?: Record<string, string> } };

/** Every pair of objects of a kind, the second with the annotation of the first, where there is one. */
const theftsIn = (objects: readonly unknown[]): readonly { what: string; objects: unknown[] }[] => {
  const all = objects as readonly Annotated[];
  const keysOf = {
    Node: [NODE_ANNOTATIONS.id, NODE_ANNOTATIONS.subnets],
    NetworkAttachmentDefinition: [NAD_ANNOTATIONS.networkId],
    Pod: [POD_ANNOTATIONS.networks],
  };
  return Object.entries(keysOf).flatMap(([kind, keysOfKind]) =>
    keysOfKind.flatMap((key) => {
      const holders = all.filter((one) => one.kind === kind && (one.metadata.annotations?.[key] ?? '{}') !== '{}');
      const [first, second] = holders;
      const value = first?.metadata.annotations?.[key];
      if (second === undefined || value === undefined) return [];
      const robbed = {
        ...second,
        metadata: { ...second.metadata, annotations: { ...second.metadata.annotations, [key]: value } },
      };
      return [
        { what: `${key} of ${second.metadata.name}`, objects: all.map((one) => (one === second ? robbed : one)) },
      ];
    }),
  );
};
