import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { problemOf } from './desired-form.ts';
import { elementForm } from './element-form.ts';
import { scriptOf } from './operations.ts';
import { planOf } from './plan.ts';
import { endsQuoted, plainComment } from './quoted-text.ts';
import { type NftItem, nftItemKey } from './types.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('"', '\n', ';', '#', '\\', '{', '}', 'a', ' ', '10.0.0.1', ',', '\u2028'))
    .map((all) => all.join('')),
);
const item: fc.Arbitrary<NftItem> = fc.oneof(
  fc
    .record({ name: text, comment: text, rules: fc.array(text, { maxLength: 3 }) })
    .map((chain): NftItem => ({ kind: 'chain', chain })),
  fc.record({ name: text, type: text, comment: text }).map((set): NftItem => ({ kind: 'set', set })),
  fc
    .record({ set: fc.constant('s'), key: text, value: fc.option(text, { nil: undefined }), comment: text })
    .map((element): NftItem => ({ kind: 'element', element })),
);

it('lets no text become more than one command, or a part of the next', () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 5 }), (items) => {
      const desired = new Map(items.map((one) => [nftItemKey(one), one]));
      const operations = planOf({ desired, actual: undefined, keys: 'all', prune: true, forms: new Map() });
      const lines = scriptOf(operations).split('\n');
      expect(lines).toHaveLength(operations.length + 2);
      for (const line of lines) {
        expect(endsQuoted(line)).toBe(false);
        expect(line).not.toMatch(/\\$/);
        if (!line.startsWith('add chain') && !line.startsWith('add set'))
          expect(line.replace(/"[^"]*"/g, '')).not.toMatch(/[;#]/);
      }
    }),
    { numRuns: 2000 },
  );
});

it.each<[string, NftItem]>([
  ['a name with a space', { kind: 'chain', chain: { name: 'a b', rules: [] } }],
  ['two commands', { kind: 'chain', chain: { name: 'c', rules: ['accept; flush ruleset'] } }],
  ['two lines', { kind: 'chain', chain: { name: 'c', rules: ['accept\nflush ruleset'] } }],
  ['a string without an end', { kind: 'chain', chain: { name: 'c', rules: ['oifname "x'] } }],
  ['two elements', { kind: 'element', element: { set: 's', key: '10.0.0.1, 10.0.0.2' } }],
])('refuses %s', (_, refused) => {
  expect(problemOf(refused)).toEqual(expect.any(String));
});

describe('an element', () => {
  it.each([
    ['ipv4_addr . inet_proto . inet_service', '10.0.0.1 . 6 . 80', '10.0.0.1 . tcp . 80'],
    ['inet_proto', '132', 'sctp'],
    ['ipv4_addr', '10.0.0.1/32', '10.0.0.1'],
    ['ipv6_addr', 'FD00:0:0::1/128', 'fd00::1'],
    ['ipv6_addr', 'fd00:0::/64', 'fd00::/64'],
    ['ifname', 'eth0', '"eth0"'],
    ['mark', '4097', '0x00001001'],
    ['cgroupsv2 . ifname', '793522 . "a . b"', '793522 . "a . b"'],
    ['cgroupsv2', 'kubelet.slice', '"kubelet.slice"'],
  ])('of %s %s has the form %s, which it keeps', (type, key, form) => {
    expect(elementForm(type, key)).toBe(form);
    expect(elementForm(type, form)).toBe(form);
  });
});

it('makes comments that nft takes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (comment) => {
      const plain = plainComment(comment);
      expect(new TextEncoder().encode(plain).length).toBeLessThan(128);
      expect(plain).not.toMatch(/["\n]/);
      expect(plainComment(plain)).toBe(plain);
    }),
  );
});
