import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCidr } from '../cidr.ts';
import { parseIp } from '../ip.ts';
import {
  type AddressPool,
  addressPool,
  allocateAddress,
  isAddressUsed,
  releaseAddress,
  reserveAddress,
} from './addresses.ts';
import { emptyBitmap, firstGap, hasBit, withBit, withoutBit } from './bitmap.ts';
import { allocateId, idPool, isIdUsed, releaseId, reserveId } from './ids.ts';
import { allocateSubnet, releaseSubnet, reserveSubnet, subnetPool } from './subnets.ts';

describe('bitmap', () => {
  it('behaves like a set of integers', () => {
    const change = fc.record({ add: fc.boolean(), bit: fc.bigInt({ min: 0n, max: 3000n }) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 300 }), fc.bigInt({ min: 0n, max: 3100n }), (changes, from) => {
        const model = new Set<bigint>();
        let bitmap = emptyBitmap;
        for (const { add, bit } of changes) {
          if (add) model.add(bit);
          else model.delete(bit);
          bitmap = add ? withBit(bitmap, bit) : withoutBit(bitmap, bit);
        }
        expect(bitmap.size).toBe(model.size);
        for (const bit of model) expect(hasBit(bitmap, bit)).toBe(true);
        let gap = from;
        while (model.has(gap)) gap += 1n;
        expect(firstGap(bitmap, from, 5000n)).toBe(gap);
      }),
    );
  });

  it('finds gaps behind full blocks', () => {
    let bitmap = emptyBitmap;
    for (let bit = 0n; bit < 2048n; bit++) bitmap = withBit(bitmap, bit);
    expect(firstGap(bitmap, 0n, 5000n)).toBe(2048n);
    expect(firstGap(bitmap, 0n, 2047n)).toBeUndefined();
    expect(firstGap(withoutBit(bitmap, 77n), 0n, 5000n)).toBe(77n);
  });

  it('leaves the old value as it was', () => {
    const one = withBit(emptyBitmap, 1n);
    withBit(one, 2n);
    withoutBit(one, 1n);
    expect([hasBit(one, 1n), hasBit(one, 2n)]).toEqual([true, false]);
  });
});

describe('ids', () => {
  it('are given out lowest first, recovered and released', () => {
    let pool = reserveId(idPool(1, 4), 2);
    const got: number[] = [];
    for (let i = 0; i < 3; i++) {
      const next = allocateId(pool);
      pool = next.pool;
      got.push(next.id);
    }
    expect(got).toEqual([1, 3, 4]);
    expect(() => allocateId(pool)).toThrow(expect.objectContaining({ code: 'ERR_NET_EXHAUSTED' }));
    pool = releaseId(releaseId(pool, 3), 3);
    expect(isIdUsed(pool, 3)).toBe(false);
    expect(allocateId(pool).id).toBe(3);
  });

  it('refuse a conflict and a foreign id', () => {
    const pool = reserveId(idPool(1, 4), 2);
    expect(() => reserveId(pool, 2)).toThrow(expect.objectContaining({ code: 'ERR_NET_CONFLICT' }));
    expect(() => reserveId(pool, 5)).toThrow(expect.objectContaining({ code: 'ERR_NET_RANGE' }));
  });
});

describe('addresses', () => {
  const take = (start: AddressPool, count: number): string[] => {
    let pool = start;
    return Array.from({ length: count }, () => {
      const next = allocateAddress(pool);
      pool = next.pool;
      return next.ip;
    });
  };

  it('leave out network, broadcast and excluded parts', () => {
    const pool = addressPool(parseCidr('10.0.0.0/29'), [parseCidr('10.0.0.1/32'), parseCidr('10.0.0.4/31')]);
    expect(take(pool, 3)).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.6']);
    expect(() => take(pool, 4)).toThrow(/10\.0\.0\.0\/29 has no free address/);
  });

  it('never run out of a /64 and never give ::0', () => {
    expect(take(addressPool(parseCidr('fd00::/64'), [parseCidr('fd00::/126')]), 2)).toEqual(['fd00::4', 'fd00::5']);
  });

  it('use both addresses of a /31', () => {
    expect(take(addressPool(parseCidr('10.0.0.0/31')), 2)).toEqual(['10.0.0.0', '10.0.0.1']);
  });

  it('can be recovered, also inside of an excluded part', () => {
    let pool = addressPool(parseCidr('10.0.0.0/24'), [parseCidr('10.0.0.0/28')]);
    pool = reserveAddress(reserveAddress(pool, parseIp('10.0.0.5')), parseIp('10.0.0.16'));
    expect(take(pool, 1)).toEqual(['10.0.0.17']);
    expect(() => reserveAddress(pool, parseIp('10.0.0.5'))).toThrow(
      expect.objectContaining({ code: 'ERR_NET_CONFLICT' }),
    );
    expect(() => reserveAddress(pool, parseIp('10.0.1.5'))).toThrow(expect.objectContaining({ code: 'ERR_NET_RANGE' }));
    expect(isAddressUsed(releaseAddress(pool, parseIp('10.0.0.5')), parseIp('10.0.0.5'))).toBe(false);
  });

  it('are never given out twice, whatever is released and recovered in between', () => {
    const step = fc.record({ kind: fc.constantFrom('allocate', 'release', 'reserve'), n: fc.nat(255) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const cidr = parseCidr('10.0.0.0/24');
        let pool = addressPool(cidr);
        const held = new Set<string>();
        for (const { kind, n } of steps) {
          const ip = parseIp(`10.0.0.${n}`);
          if (kind === 'release') {
            pool = releaseAddress(pool, ip);
            held.delete(ip);
          } else if (kind === 'reserve') {
            if (held.has(ip)) continue;
            pool = reserveAddress(pool, ip);
            held.add(ip);
          } else if (held.size < 254) {
            const next = allocateAddress(pool);
            expect(held.has(next.ip)).toBe(false);
            pool = next.pool;
            held.add(next.ip);
          }
        }
      }),
    );
  });
});

describe('subnets', () => {
  it('come from the next range when one is full', () => {
    let pool = subnetPool([
      { cidr: parseCidr('10.0.0.0/23'), hostPrefix: 24 },
      { cidr: parseCidr('10.9.0.0/24'), hostPrefix: 24 },
    ]);
    pool = reserveSubnet(pool, parseCidr('10.0.0.0/24'));
    const got: string[] = [];
    for (let i = 0; i < 2; i++) {
      const next = allocateSubnet(pool);
      pool = next.pool;
      got.push(next.subnet);
    }
    expect(got).toEqual(['10.0.1.0/24', '10.9.0.0/24']);
    expect(() => allocateSubnet(pool)).toThrow(/no subnet left in 10\.0\.0\.0\/23\/24, 10\.9\.0\.0\/24\/24/);
    expect(allocateSubnet(releaseSubnet(pool, parseCidr('10.0.0.0/24'))).subnet).toBe('10.0.0.0/24');
  });

  it('refuse what is not theirs', () => {
    const pool = subnetPool([{ cidr: parseCidr('fd00:10::/48'), hostPrefix: 64 }]);
    for (const foreign of ['fd00:11::/64', 'fd00:10::/63', '10.0.0.0/24']) {
      expect(() => reserveSubnet(pool, parseCidr(foreign))).toThrow(expect.objectContaining({ code: 'ERR_NET_RANGE' }));
    }
    const taken = reserveSubnet(pool, parseCidr('fd00:10:0:5::/64'));
    expect(() => reserveSubnet(taken, parseCidr('fd00:10:0:5::/64'))).toThrow(
      expect.objectContaining({ code: 'ERR_NET_CONFLICT' }),
    );
    expect(() => subnetPool([{ cidr: parseCidr('10.0.0.0/24'), hostPrefix: 16 }])).toThrow();
  });
});
