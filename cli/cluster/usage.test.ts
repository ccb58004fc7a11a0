/** Counts that are known beforehand: subnets so small that they can be counted by hand. */
import { expect, it } from 'vitest';
import { ipamClaim, layer2Udn, layer3Udn, tenant } from '../../cluster-manager/testing/objects.ts';
import { countText, usageOutput } from '../commands/usage.ts';
import { entry, nadOf, READY, scene, settledNetwork, settledNode, settledPod } from '../why/testing/objects.ts';
import { usageOf } from './usage.ts';

const red = tenant('red');
const layer2 = settledNetwork(layer2Udn('red/net', ['10.1.0.0/29', 'fd00:1::/64']));
const layer2Nad = nadOf(layer2, 'red', { subnets: '10.1.0.0/29,fd00:1::/64' });
const layer3 = settledNetwork(layer3Udn('red/net', ['10.1.0.0/24']));
const layer3Nad = nadOf(layer3, 'red', { topology: 'layer3', subnets: '10.1.0.0/24/28' });

const usageIn = (name: string, ...objects: readonly unknown[]) =>
  usageOf(scene([red, ...objects])).find(({ network }) => network === name);

it('of layer 2: network, broadcast, gateway and management port are never free', () => {
  const pods = [
    settledPod('red/a', entry('red/net', '10.1.0.3/29')),
    settledPod('red/b', entry('red/net', '10.1.0.4/29')),
  ];
  expect(usageIn('red_net', layer2, layer2Nad, ...pods)).toEqual({
    ...{ network: 'red_net', topology: 'layer2', nodes: [] },
    subnets: [
      { subnet: '10.1.0.0/29', used: 2, free: 2n },
      { subnet: 'fd00:1::/64', used: 0, free: 2n ** 64n - 3n },
    ],
    namespaces: [{ namespace: 'red', pods: 2, ipv4: 2, ipv6: 0 }],
  });
});

it('of layer 3: the subnets of nodes, and how many more nodes could have one', () => {
  const nodes = [settledNode('n1', { red_net: ['10.1.0.0/28'] }), settledNode('n2', { red_net: ['10.1.0.16/28'] })];
  const usage = usageIn('red_net', layer3, layer3Nad, ...nodes, settledPod('red/a', entry('red/net', '10.1.0.19/28')));
  expect(usage?.subnets).toEqual([{ subnet: '10.1.0.0/24/28', used: 1, free: 23n, nodes: { used: 2, free: 14n } }]);
  expect(usage?.nodes).toEqual([
    { node: 'n1', subnet: '10.1.0.0/28', used: 0, free: 12n },
    { node: 'n2', subnet: '10.1.0.16/28', used: 1, free: 11n },
  ]);
});

it('of the default network: what nodes have of it', () => {
  const usage = usageIn('default', settledNode('n1'), settledPod('red/a', entry('default', '10.128.0.5/23')));
  expect(usage?.subnets).toEqual([{ subnet: 'IPv4 of 1 nodes', used: 1, free: 507n }]);
});

it('a pod that has completed has none; an address of two pods is one; a claim keeps its own without a pod', () => {
  const ended = settledPod('red/a', entry('red/net', '10.1.0.3/29'), {}, { ...READY, phase: 'Succeeded' });
  expect(usageIn('red_net', layer2, layer2Nad, ended)?.subnets[0]).toMatchObject({ used: 0, free: 4n });
  const twice = ['red/a', 'red/b'].map((key) => settledPod(key, entry('red/net', '10.1.0.3/29')));
  expect(usageIn('red_net', layer2, layer2Nad, ...twice)?.subnets[0]).toMatchObject({ used: 1, free: 3n });
  const held = ipamClaim('red/vm', 'red_net', {}, {}, { ips: ['10.1.0.5/29'] });
  expect(usageIn('red_net', layer2, layer2Nad, held)).toMatchObject({
    subnets: [{ used: 1, free: 3n }, { used: 0 }],
    namespaces: [{ namespace: 'red', pods: 0, ipv4: 1, ipv6: 0 }],
  });
});

it('a pod that is attached twice has the addresses of both, and is one pod', () => {
  const both = { ...entry('red/net', '10.1.0.3/29'), ...entry('red/net/1', '10.1.0.4/29') };
  expect(usageIn('red_net', layer2, layer2Nad, settledPod('red/a', both))).toMatchObject({
    subnets: [{ used: 2, free: 2n }, { used: 0 }],
    namespaces: [{ namespace: 'red', pods: 1, ipv4: 2, ipv6: 0 }],
  });
});

it('is printed as a table and as JSON that any program can read', () => {
  const usage = usageIn('red_net', layer2, layer2Nad);
  const output = usageOutput(usage === undefined ? [] : [usage], true);
  expect(output.tables[0]?.rows).toEqual([
    ['red_net', 'layer2', '10.1.0.0/29', '0', '4', '', ''],
    ['', '', 'fd00:1::/64', '0', '>=2^63', '', ''],
  ]);
  expect(JSON.parse(JSON.stringify(output.data))).toMatchObject([
    { subnets: [{ free: '4' }, { free: '18446744073709551613' }] },
  ]);
  expect([0n, 9_999_999n, 2n ** 64n].map(countText)).toEqual(['0', '9999999', '>=2^64']);
});
