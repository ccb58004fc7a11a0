import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { interfaceAddress, parseInterfaceAddress } from '../../../net/cidr.ts';
import { type Family, ipFromBigInt, parseIp } from '../../../net/ip.ts';
import { attribute, numberAttribute } from '../wire/attributes.ts';
import { formatAddress } from '../wire/codec.ts';
import { decodeAddress, deleteAddress, putAddress } from './codec.ts';

const anyAddress = fc
  .constantFrom<Family>(4, 6)
  .chain((family) =>
    fc
      .tuple(fc.bigInt({ min: 0n, max: 2n ** (family === 4 ? 32n : 128n) - 1n }), fc.nat(family === 4 ? 32 : 128))
      .map(([value, length]) => interfaceAddress(ipFromBigInt(family, value), length)),
  );

const decoded = (family: Family, scope: number, ...attributes: Buffer[]) =>
  decodeAddress(
    Buffer.concat([formatAddress({ family: family === 4 ? 2 : 10, prefixlen: 24, scope, index: 3 }), ...attributes]),
  );

describe('an address', () => {
  it('comes back from its bytes', () => {
    fc.assert(
      fc.property(anyAddress, fc.integer({ min: 1, max: 2 ** 31 - 1 }), (address, index) => {
        for (const request of [putAddress, deleteAddress]) {
          expect(decodeAddress(Buffer.from(request({ link: 'eth0', address }, index).payload))).toEqual({
            index,
            address,
            scope: 'global',
            state: 'valid',
          });
        }
      }),
    );
  });

  it('skips duplicate detection for IPv6, and only there', () => {
    const flags = (text: string) => putAddress({ link: 'eth0', address: parseInterfaceAddress(text) }, 3).payload;
    expect(Buffer.from(flags('fd00::1/64')).includes(numberAttribute(8, 2))).toBe(true);
    expect(Buffer.from(flags('10.0.0.1/24')).includes(numberAttribute(8, 2))).toBe(false);
  });

  it('is the near end of a point-to-point link', () => {
    const far = attribute(1, Uint8Array.of(10, 0, 0, 1));
    const near = attribute(2, Uint8Array.of(10, 0, 0, 2));
    expect(decoded(4, 0, far, near)?.address).toBe('10.0.0.2/24');
    expect(decoded(6, 0, attribute(1, new Uint8Array(16).fill(1)))?.address).toBe('101:101:101:101:101:101:101:101/24');
  });

  it.each([
    [0, 'valid', 0],
    [253, 'tentative', 0x40],
    [254, 'duplicate', 0x48],
    [200, 'valid', 0x80],
  ])('of scope %i is %s with flags %i', (scope, state, flags) => {
    const scopes: Record<number, string> = { 0: 'global', 253: 'link', 254: 'host', 200: 'site' };
    const got = decoded(4, scope, attribute(2, Uint8Array.of(10, 0, 0, 2)), numberAttribute(8, flags));
    expect(got).toMatchObject({ state, scope: scopes[scope] });
  });

  it('keeps what somebody said beside the address', () => {
    const address = parseInterfaceAddress('10.0.0.5/24');
    const details = { broadcast: parseIp('10.0.0.255'), label: 'eth0:1', noPrefixRoute: true, metric: 100 };
    expect(decodeAddress(Buffer.from(putAddress({ link: 'eth0', address, ...details }, 3).payload))).toEqual({
      index: 3,
      address,
      scope: 'global',
      state: 'valid',
      ...details,
    });
  });

  it('of no IP family is none', () => {
    expect(decodeAddress(formatAddress({ family: 28, index: 3 }))).toBeUndefined();
  });
});
