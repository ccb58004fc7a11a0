import { isIP, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { Address6 } from 'ip-address';
import { describe, expect, it } from 'vitest';
import { type Family, ipFamily, ipFromBigInt, ipToBigInt, ipToBytes, isIp, isLinkLocal6, parseIp } from './ip.ts';

const anyIp = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value) => ({ family: 4 as Family, value })),
  fc
    .bigInt({ min: 0n, max: 2n ** 128n - 1n })
    .filter((value) => value >> 32n !== 0xffffn)
    .map((value) => ({ family: 6 as Family, value })),
);

const isMapped = (text: string): boolean => isIPv6(text) && new Address6(text).bigInt() >> 32n === 0xffffn;

describe('parseIp', () => {
  it.each(['0.0.0.0', '10.0.0.1', '255.255.255.255', '::', '::1', 'fd00::1', 'fe80::858:6dff:fe6d:c150'])(
    'takes %s as it is',
    (text) => expect(parseIp(text)).toBe(text),
  );

  it.each([
    ['FD00:0:0:0::1', 'fd00::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
  ])('writes %s as %s', (text, canonical) => expect(parseIp(text)).toBe(canonical));

  it.each([
    '',
    '10.0.0.256',
    '010.0.0.1',
    '10.1',
    '0x0a.0.0.1',
    '10.0.0.1 ',
    '10.0.0.1/24',
    'fd00:::1',
    '1::2::3',
    'fe80::1%eth0',
    '::ffff:10.0.0.1',
    '１0.0.0.1',
  ])('refuses "%s"', (text) => expect(() => parseIp(text)).toThrow(expect.objectContaining({ code: 'ERR_NET_IP' })));

  it('takes as IPv6 what Node takes, but for zones and mapped addresses', () => {
    const group = fc.constantFrom(
      '0',
      '1',
      'ff',
      'FFFF',
      'abcd',
      '12345',
      'g',
      '',
      '1.2.3.4',
      '1.2.3',
      '01.2.3.4',
      '٣',
    );
    const text = fc
      .array(fc.tuple(group, fc.constantFrom(':', ':', ':', '::', ':::', '.', '%')), { maxLength: 10 })
      .chain((parts) => group.map((last) => parts.map(([one, separator]) => one + separator).join('') + last));
    const almost = anyIp.chain(({ family, value }) => {
      const ip = ipFromBigInt(family, value);
      return fc
        .tuple(fc.nat(ip.length), fc.constantFrom('', ':', '::', '0', 'f', 'G', '.', '%', ' '))
        .map(([at, insert]) => ip.slice(0, at) + insert + ip.slice(at + 1));
    });
    fc.assert(
      fc.property(fc.oneof(text, almost), (one) => {
        const isTaken = isIP(one) !== 0 && !one.includes('%') && !isMapped(one);
        expect(isIp(one)).toBe(isTaken);
        if (isIPv6(one) && isTaken) expect(parseIp(one)).toBe(new Address6(one).correctForm());
      }),
      { numRuns: 5000 },
    );
  });

  it('agrees with an independent library on the canonical form of IPv6', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (value) => {
        expect(ipFromBigInt(6, value)).toBe(Address6.fromBigInt(value).correctForm());
      }),
    );
  });
});

describe('arithmetic', () => {
  it('goes through bigint and text without a loss', () => {
    fc.assert(
      fc.property(anyIp, ({ family, value }) => {
        const ip = ipFromBigInt(family, value);
        expect(ipFamily(ip)).toBe(family);
        expect(ipToBigInt(parseIp(ip))).toBe(value);
        expect(BigInt(`0x${Buffer.from(ipToBytes(ip)).toString('hex')}`)).toBe(value);
      }),
    );
  });

  it('refuses what does not fit the family', () => {
    expect(() => ipFromBigInt(4, 2n ** 32n)).toThrow(expect.objectContaining({ code: 'ERR_NET_RANGE' }));
    expect(() => ipFromBigInt(6, -1n)).toThrow(expect.objectContaining({ code: 'ERR_NET_RANGE' }));
  });

  it('knows link-local addresses', () => {
    expect(isLinkLocal6(parseIp('febf::1'))).toBe(true);
    expect(isLinkLocal6(parseIp('fec0::1'))).toBe(false);
  });
});
