import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cidr, cidrContainsIp, cidrsOverlap, networkOf, parseCidr } from './cidr.ts';
import { type Block, prefixesOf } from './cidr-blocks.ts';
import { addressBits, type Family, ipFromBigInt } from './ip.ts';

const block = (cidr: string, ...except: string[]): Block => ({ cidr: parseCidr(cidr), except: except.map(parseCidr) });

describe('prefixesOf', () => {
  it.each<[string, Family, Block[], string[]]>([
    ['the whole family is one', 4, [block('0.0.0.0/0')], ['0.0.0.0/0']],
    ['the whole of IPv6, too', 6, [block('::/0'), block('10.0.0.0/8')], ['::/0']],
    ['an except is a hole', 4, [block('10.0.0.0/30', '10.0.0.1/32')], ['10.0.0.0/32', '10.0.0.2/31']],
    ['all excepts are left out', 4, [block('10.0.0.0/24', '10.0.0.0/26', '10.0.0.128/25')], ['10.0.0.64/26']],
    ['excepts may overlap', 4, [block('10.0.0.0/24', '10.0.0.0/25', '10.0.0.64/26')], ['10.0.0.128/25']],
    [
      'another block has what this one excepts',
      4,
      [block('10.0.0.0/8', '10.1.0.0/16'), block('10.1.0.0/16')],
      ['10.0.0.0/8'],
    ],
    ['neighbours are one', 4, [block('10.0.0.128/25'), block('10.0.0.0/25')], ['10.0.0.0/24']],
    ['nothing is left', 4, [block('10.0.0.0/24', '10.0.0.0/25', '10.0.0.128/25')], []],
    ['no block', 6, [], []],
  ])('%s', (_, family, blocks, want) => expect(prefixesOf(family, blocks, 4096)).toEqual(want));

  it('stops at its limit', () => {
    const except = Array.from({ length: 10_000 }, (_, n) => `10.${n >> 12}.${(n >> 4) & 255}.${(n & 15) * 16}/32`);
    const before = performance.now();
    expect(prefixesOf(4, [block('0.0.0.0/0', ...except)], 4096)).toBeUndefined();
    expect(performance.now() - before).toBeLessThan(5000);
  });

  /** Close together, so that blocks and excepts meet. */
  const cidrs = (family: Family) =>
    fc
      .tuple(fc.integer({ min: 0, max: 63 }), fc.integer({ min: 0, max: 6 }))
      .map(([offset, host]) =>
        networkOf(ipFromBigInt(family, BASE[family] + BigInt(offset)), addressBits(family) - host),
      );

  it('has exactly the addresses of its blocks, in the fewest prefixes', () => {
    const cases = fc.constantFrom<Family>(4, 6).chain((family) =>
      fc.record({
        family: fc.constant(family),
        blocks: fc.array(fc.record({ cidr: cidrs(family), except: fc.array(cidrs(family), { maxLength: 4 }) }), {
          maxLength: 5,
        }),
      }),
    );
    fc.assert(
      fc.property(cases, ({ family, blocks }) => {
        const prefixes = prefixesOf(family, blocks, 4096) ?? [];
        for (let offset = 0n; offset < 64n; offset += 1n) {
          const ip = ipFromBigInt(family, BASE[family] + offset);
          const want = blocks.some(
            ({ cidr, except }) => cidrContainsIp(cidr, ip) && !except.some((part) => cidrContainsIp(part, ip)),
          );
          expect(prefixes.some((prefix) => cidrContainsIp(prefix, ip))).toBe(want);
        }
        expect(prefixes.some((a, n) => prefixes.some((b, m) => m > n && (cidrsOverlap(a, b) || areHalves(a, b))))).toBe(
          false,
        );
        expect(prefixesOf(family, [...blocks].reverse(), 4096)).toEqual(prefixes);
      }),
      { numRuns: 300 },
    );
  });
});

const BASE = { 4: 0x0a_00_00_00n, 6: 0xfd00n << 112n } as const;

/** Together they are a prefix themselves. */
const areHalves = (a: Cidr, b: Cidr): boolean => {
  const [ip = '', length] = a.split('/');
  return (
    b.split('/')[1] === length &&
    length !== '0' &&
    networkOf(ip as never, Number(length) - 1) === networkOf(b.split('/')[0] as never, Number(length) - 1)
  );
};
