import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressAt,
  type Cidr,
  cidrContains,
  cidrContainsIp,
  cidrsOverlap,
  hostRoute,
  interfaceAddressAt,
  networkOf,
  networkOfInterface,
  offsetIn,
  parseCidr,
  parseInterfaceAddress,
  subnetAt,
} from './cidr.ts';
import { addressBits, type Family, type Ip, ipFromBigInt, parseIp } from './ip.ts';

describe('parseCidr', () => {
  it.each(['10.0.0.0/8', '0.0.0.0/0', '10.0.0.1/32', 'fd00::/64', '::/0'])('takes %s', (text) =>
    expect(parseCidr(text)).toBe(text),
  );

  it.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '010.0.0.0/8',
    'fd00::/129',
    '/8',
    '',
  ])('refuses "%s"', (text) =>
    expect(() => parseCidr(text)).toThrow(expect.objectContaining({ code: 'ERR_NET_CIDR', input: text })),
  );

  it.each([
    ['10.0.0.5/24', '10.0.0.0/24'],
    ['fd00::1/64', 'fd00::/64'],
  ])('refuses the host bits of %s and names %s', (text, network) =>
    expect(() => parseCidr(text)).toThrow(
      expect.objectContaining({ code: 'ERR_NET_HOST_BITS', message: expect.stringContaining(network) }),
    ),
  );
});

describe('interface addresses', () => {
  it('keep their host bits and know their network', () => {
    const address = parseInterfaceAddress('192.168.1.77/20');
    expect(address).toBe('192.168.1.77/20');
    expect(networkOfInterface(address)).toBe('192.168.0.0/20');
  });

  it('are counted from the first address of a network', () => {
    expect(interfaceAddressAt(parseCidr('192.168.1.0/24'), 2)).toBe('192.168.1.2/24');
    expect(addressAt(parseCidr('fd00:10::/64'), 2n ** 64n - 1n)).toBe('fd00:10::ffff:ffff:ffff:ffff');
    expect(() => addressAt(parseCidr('10.0.0.0/24'), 256)).toThrow(expect.objectContaining({ code: 'ERR_NET_RANGE' }));
    expect(offsetIn(parseCidr('10.0.0.0/24'), parseIp('10.0.0.9'))).toBe(9n);
    expect(offsetIn(parseCidr('10.0.0.0/24'), parseIp('fd00::9'))).toBeUndefined();
  });
});

describe('networks', () => {
  it.each([
    ['10.0.0.0/8', '10.1.0.0/16', true],
    ['10.1.0.0/16', '10.0.0.0/8', false],
    ['10.0.0.0/16', '10.1.0.0/16', false],
    ['::/0', '10.0.0.0/8', false],
    ['fd00::/48', 'fd00::/48', true],
  ])('%s contains %s: %s', (outer, inner, want) => expect(cidrContains(parseCidr(outer), parseCidr(inner))).toBe(want));

  it('overlap in both directions', () => {
    expect(cidrsOverlap(parseCidr('10.1.0.0/16'), parseCidr('10.0.0.0/8'))).toBe(true);
    expect(cidrsOverlap(parseCidr('10.0.0.0/9'), parseCidr('10.128.0.0/9'))).toBe(false);
  });

  it('are cut into parts', () => {
    expect(subnetAt(parseCidr('10.128.0.0/14'), 23, 3)).toBe('10.128.6.0/23');
    expect(subnetAt(parseCidr('fd00:10:128::/48'), 64, 65535)).toBe('fd00:10:128:ffff::/64');
    expect(hostRoute(parseIp('fd00::1'))).toBe('fd00::1/128');
  });
});

describe('words of 32 bits', () => {
  /** Close to each other as often as far apart, with every length. */
  const pairs = fc.constantFrom<Family>(4, 6).chain((family) => {
    const bits = addressBits(family);
    return fc.record({
      family: fc.constant(family),
      value: fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }),
      flipped: fc.option(fc.integer({ min: 0, max: bits - 1 })),
      length: fc.integer({ min: 0, max: bits }),
      innerLength: fc.integer({ min: 0, max: bits }),
    });
  });

  it('say what big integers say', () => {
    fc.assert(
      fc.property(pairs, ({ family, value, flipped, length, innerLength }) => {
        const bits = addressBits(family);
        const other = flipped === null ? value : value ^ (1n << BigInt(flipped));
        const firstOf = (address: bigint, prefix: number): bigint =>
          (address >> BigInt(bits - prefix)) << BigInt(bits - prefix);
        const text = (address: bigint, prefix: number): Cidr => `${ipFromBigInt(family, address)}/${prefix}` as Cidr;
        const [first, ip] = [firstOf(value, length), ipFromBigInt(family, other)];
        const [outer, inner] = [text(first, length), text(firstOf(other, innerLength), innerLength)];
        const isInside = firstOf(other, length) === first;
        expect(networkOf(ipFromBigInt(family, value), length)).toBe(outer);
        expect(cidrContainsIp(outer, ip)).toBe(isInside);
        expect(offsetIn(outer, ip)).toBe(isInside ? other - first : undefined);
        expect(cidrContains(outer, inner)).toBe(innerLength >= length && isInside);
      }),
      { numRuns: 1000 },
    );
  });

  it('know one family from the other', () => {
    expect(cidrContainsIp('::/0' as Cidr, '10.0.0.1' as Ip)).toBe(false);
    expect(cidrContainsIp('0.0.0.0/0' as Cidr, '::1' as Ip)).toBe(false);
    expect(cidrContains('::/96' as Cidr, '10.0.0.0/8' as Cidr)).toBe(false);
  });
});
