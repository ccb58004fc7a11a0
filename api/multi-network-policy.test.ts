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

it('names NADs only, of whatever is written there', () => {
  const item = fc.oneof(fc.constantFrom('flat', 'blue/wide', ' ', 'a b'), fc.string());
  fc.assert(
    fc.property(fc.array(item, { maxLength: 40 }), (items) => {
      const { nads, problem } = readPolicyFor(items.join(','), 'red');
      expect(nads.every((nad) => /^[a-z0-9.-]+\/[a-z0-9.-]+$/.test(nad))).toBe(true);
      expect(nads.length).toBeLessThanOrEqual(32);
      if (problem !== undefined) expect(problem.length).toBeLessThan(800);
    }),
    { numRuns: 500 },
  );
});
