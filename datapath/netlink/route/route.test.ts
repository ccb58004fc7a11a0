import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cidr, networkOf, parseCidr } from '../../../net/cidr.ts';
import { type Family, type Ip, ipFromBigInt, parseIp } from '../../../net/ip.ts';
import { decodeRoute, deleteRoute, namedRoute, putRoute } from './codec.ts';
import { type Route, type RouteType, route, routeKey, sameRoute } from './types.ts';

const ip = (family: Family): fc.Arbitrary<Ip> =>
  fc.bigInt({ min: 0n, max: 2n ** (family === 4 ? 32n : 128n) - 1n }).map((value) => ipFromBigInt(family, value));
const cidr = (family: Family): fc.Arbitrary<Cidr> =>
  fc.tuple(ip(family), fc.nat(family === 4 ? 32 : 128)).map(([address, length]) => networkOf(address, length));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const anyRoute: fc.Arbitrary<Route> = fc.constantFrom<Family>(4, 6).chain((family) =>
  fc
    .record({
      dst: cidr(family),
      table: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
      type: fc.constantFrom<RouteType>('unicast', 'local', 'broadcast', 'anycast', 'multicast'),
      protocol: fc.integer({ min: 1, max: 255 }),
      metric: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
      via: optional(family === 4 ? fc.oneof(ip(4), ip(6)) : ip(6)),
      src: optional(ip(family)),
      mtu: optional(fc.integer({ min: 1, max: 65_535 })),
      onlink: optional(fc.constant(true)),
    })
    .map((fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never),
);

describe('a route', () => {
  it('comes back from its bytes, whatever it is', () => {
    fc.assert(
      fc.property(anyRoute, fc.nat(2 ** 31 - 1), (desired, index) => {
        expect(decodeRoute(Buffer.from(putRoute(desired, index).payload))).toEqual({ ...desired, index });
      }),
    );
  });

  it('to nowhere has no device, whatever the kernel says', () => {
    const unreachable = route({
      dst: parseCidr('10.0.0.0/8'),
      type: 'unreachable',
      table: 100_003,
      metric: 4_278_198_272,
    });
    expect(decodeRoute(Buffer.from(putRoute(unreachable, 1).payload))).toEqual({ ...unreachable, index: undefined });
  });

  it('of several next hops has them all, and those whose link is there by name', () => {
    // struct rtnexthop: length, flags, weight − 1, index; then RTA_GATEWAY (5).
    const hop = (index: number, via: Ip | undefined): Buffer => {
      const gateway = via === undefined ? Buffer.alloc(0) : Buffer.from([8, 0, 5, 0, ...via.split('.').map(Number)]);
      return Buffer.concat([Buffer.from([8 + gateway.length, 0, 0, 0, index, 0, 0, 0]), gateway]);
    };
    const { payload } = putRoute(route({ dst: parseCidr('0.0.0.0/0') }), undefined);
    const hops = Buffer.concat([hop(3, parseIp('10.0.0.1')), hop(4, undefined), hop(5, parseIp('10.0.0.2'))]);
    const header = Buffer.from([4 + hops.length, 0, 9, 0]);
    const decoded = decodeRoute(Buffer.concat([payload, header, hops]));
    expect(decoded?.hops).toEqual([{ index: 3, via: '10.0.0.1' }, { index: 4 }, { index: 5, via: '10.0.0.2' }]);
    const names = new Map([
      [3, 'eth0'],
      [4, 'eth1'],
    ]);
    expect(decoded && namedRoute(decoded, (index) => names.get(index))).toEqual({
      ...route({ dst: parseCidr('0.0.0.0/0') }),
      nextHops: [{ dev: 'eth0', via: '10.0.0.1' }, { dev: 'eth1' }],
    });
    const cut = Buffer.concat([payload, header, hops]);
    cut[payload.length + 4] = 200;
    expect(() => decodeRoute(cut)).toThrow(/next hops of a route are cut off/);
  });

  it('of another family or of no known type is not one of ours', () => {
    const { payload } = putRoute(route({ dst: parseCidr('10.0.0.0/8') }), 1);
    const mpls = Buffer.from(payload);
    mpls[0] = 28;
    const unknown = Buffer.from(payload);
    unknown[7] = 77;
    expect([decodeRoute(mpls), decodeRoute(unknown)]).toEqual([undefined, undefined]);
  });

  it('is deleted only as what it is, so that somebody else keeps theirs', () => {
    const desired = route({ dst: parseCidr('10.0.0.0/8'), via: parseIp('10.0.0.1'), metric: 7 });
    const { payload } = deleteRoute(desired, 3);
    expect(decodeRoute(Buffer.from(payload))).toEqual({ ...desired, index: 3 });
    expect(payload[6]).toBe(255);
  });

  it('says in words what it is', () => {
    const desired = route({ dst: parseCidr('fd00::/8'), via: parseIp('fd00::1'), dev: 'eth0', table: 1007 });
    expect(putRoute(desired, 3).subject).toBe('put route fd00::/8 via fd00::1 dev eth0 in table 1007');
    expect(deleteRoute(route({ dst: parseCidr('0.0.0.0/0'), type: 'blackhole' }), undefined).subject).toBe(
      'delete blackhole route 0.0.0.0/0 in table 254',
    );
  });
});

describe('route', () => {
  it('fills in what the kernel would', () => {
    expect(route({ dst: parseCidr('10.0.0.0/8') })).toEqual({
      dst: '10.0.0.0/8',
      table: 254,
      type: 'unicast',
      protocol: 85,
      metric: 0,
    });
    expect(route({ dst: parseCidr('::/0') }).metric).toBe(1024);
    expect(route({ dst: parseCidr('::/0'), metric: 5 }).metric).toBe(5);
  });

  it('compares by all that matters', () => {
    const base = route({ dst: parseCidr('10.0.0.0/8'), via: parseIp('10.0.0.1'), dev: 'eth0' });
    expect(sameRoute(base, { ...base, onlink: false })).toBe(true);
    const others: Partial<Route>[] = [
      { via: parseIp('10.0.0.2') },
      { dev: 'eth1' },
      { mtu: 1300 },
      { protocol: 4 },
      { src: parseIp('10.0.0.9') },
      { onlink: true },
      { type: 'local' },
    ];
    for (const other of others) {
      expect(sameRoute(base, { ...base, ...other })).toBe(false);
      expect(routeKey({ ...base, ...other })).toBe(routeKey(base));
    }
    expect(routeKey({ ...base, metric: 1 })).not.toBe(routeKey(base));
  });
});
