import { expect, it } from 'vitest';
import { graphNamespace } from './graph.ts';

it.each([
  [undefined, {}, 'here'],
  ['red_net', {}, 'here'],
  ['red/net', {}, 'red'],
  ['red/net', { namespace: 'blue' }, 'blue'],
  ['red/net', { allNamespaces: true }, undefined],
])('looks for network %s with %j in namespace %s', (network, options, namespace) => {
  expect(graphNamespace(network, options, 'here')).toBe(namespace);
});
