import { expect, it } from 'vitest';
import type { NetworkFacts } from '../facts/network-facts.ts';
import { createdCondition } from './network-conditions.ts';

const facts = { kind: 'ClusterUserDefinedNetwork' } as NetworkFacts;

it('a network of the cluster that fails in a namespace says in which it works, and in which not', () => {
  expect(createdCondition(facts, ['a', 'b'], ['no label'], ['c'])).toMatchObject({
    status: 'False',
    message: 'no label; the network works in namespaces [a, b] and not in [c]',
  });
  const many = Array.from({ length: 22 }, (_, i) => `n${i}`);
  expect(createdCondition(facts, many, ['no label'], ['c']).message).toContain('n19 and 2 more] and not in [c]');
  expect(createdCondition(facts, [], ['no label'], ['c']).message).toBe('no label');
});
