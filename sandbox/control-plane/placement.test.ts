import { expect, it } from 'vitest';
import { type PlaceableNode, placePod } from './placement.ts';

const node = (name: string, overrides: Partial<PlaceableNode> = {}): PlaceableNode => ({
  name,
  labels: { 'kubernetes.io/hostname': name, zone: 'z' },
  isReady: true,
  isUnschedulable: false,
  ...overrides,
});
const anywhere = { nodeSelector: {} };
const on = (name: string) => ({ nodeSelector: { 'kubernetes.io/hostname': name } });

it.each([
  ['takes turns', anywhere, [node('b'), node('a')], ['a', 'b', 'a']],
  ['keeps to the nodeSelector', on('b'), [node('a'), node('b')], ['b', 'b', 'b']],
  ['needs every label of it', { nodeSelector: { zone: 'z', disk: 'ssd' } }, [node('a')], [undefined]],
  ['leaves out nodes that are not ready', anywhere, [node('a', { isReady: false }), node('b')], ['b', 'b']],
  ['leaves out cordoned nodes', anywhere, [node('a', { isUnschedulable: true })], [undefined]],
  ['waits for a node', anywhere, [], [undefined]],
])('%s', (_, pod, nodes, expected) => {
  expect(expected.map((__, turn) => placePod(pod, nodes, turn))).toEqual(expected);
});
