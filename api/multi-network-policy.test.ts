import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readPolicyFor } from './multi-network-policy.ts';

it.each([
  ['', [], undefined],
  ['flat', ['red/flat'], undefined],
  [' flat , blue/wide,,red/flat', ['red/flat', 'blue/wide'], undefined],
  ['flat@net1', [], '[0]: "flat@net1" is not NAME or NAMESPACE/NAME of a NAD'],
  ['a/b/c,flat', ['red/flat'], '[0]: "a/b/c" is not NAME or NAMESPACE/NAME of a NAD'],
  ['[{"name":"flat"}]', [], '[0]: "[{\\"name\\":\\"flat\\"}]" is not NAME or NAMESPACE/NAME of a NAD'],
  ['Flat', [], '[0]: "Flat" is not NAME or NAMESPACE/NAME of a NAD'],
])('reads which networks a policy is for: %s', (text, nads, problem) => {
  const field = 'metadata.annotations["k8s.v1.cni.cncf.io/policy-for"]';
  expect(readPolicyFor(text, 'red')).toEqual(
    problem === undefined ? { nads } : { nads, problem: `${field}: ${problem}` },
  );
});

const many = (count: number): string[] => Array.from({ length: count }, (_, position) => `n${position}`);

it.each([
  [32, 32, undefined],
  [33, 33, 'must have at most 32 items, has 33'],
  [1024, 1024, 'must have at most 32 items, has 1024'],
  [2000, 1024, 'must have at most 32 items, has 2000, and is for none of those after the first 1024'],
])('of %i NADs it is about %i, so that a policy with too many is closed on all', (count, read, problem) => {
  const found = readPolicyFor(many(count).join(), 'red');
  expect(found.nads).toEqual(many(read).map((name) => `red/${name}`));
  expect(found.problem?.replace(/^.*"\]: /, '')).toBe(problem);
});

it('names NADs only, of whatever is written there', () => {
  const item = fc.oneof(fc.constantFrom('flat', 'blue/wide', ' ', 'a b'), fc.string());
  fc.assert(
    fc.property(fc.array(item, { maxLength: 40 }), (items) => {
      const { nads, problem } = readPolicyFor(items.join(','), 'red');
      expect(nads.every((nad) => /^[a-z0-9.-]+\/[a-z0-9.-]+$/.test(nad))).toBe(true);
      expect(nads.length).toBeLessThanOrEqual(40);
      if (problem !== undefined) expect(problem.length).toBeLessThan(800);
    }),
    { numRuns: 500 },
  );
});
