/** Pods and disturbances at random, from few names and numbers, so that they often meet. */
import fc from 'fast-check';
import { DYING_LINK_GROUP, POD_LINK_GROUP } from '../../../api/pod-links.ts';
import { type Cidr, cidrFamily, type InterfaceAddress, parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { type Ip, ipFamily, parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { type FrameRule, sharedChain } from '../frame-filter/types.ts';
import type { KernelOp } from '../kernel/types.ts';
import { type Route, route } from '../route/types.ts';
import type { PodInterface, PodNetwork } from './types.ts';

export interface Disturbance {
  readonly where: 'node' | 'pod';
  readonly op: KernelOp;
}

/** Two interfaces at most; each has its own prefixes and names. */
export const anyPod = (netns: string): fc.Arbitrary<PodNetwork> =>
  fc
    .tuple(anyInterface(1), fc.option(anyInterface(2), { nil: undefined }))
    .map(([first, second]) => ({ netns, interfaces: second === undefined ? [first] : [first, second] }));

export const anyDisturbances: fc.Arbitrary<Disturbance[]> = fc.array(
  fc.constantFrom(1, 2).chain((n) => fc.oneof(nodeDisturbance(n), podDisturbance(n))),
  { maxLength: 6 },
);

const anyMac = (n: number) => fc.constantFrom(parseMac(`0a:58:0a:00:0${n}:05`), parseMac(`0a:58:0a:00:0${n}:06`));
const ADDRESSES = (n: number): readonly InterfaceAddress[] =>
  [
    `10.0.${n}.5/24`,
    `10.0.${n}.6/24`,
    `10.${n}.9.5/16`,
    `10.${n}7.0.5/32`,
    `fd00:${n}::5/64`,
    `fd00:${n}::6/64`,
    `fd77:${n}::5/80`,
  ].map(parseInterfaceAddress);
const DESTINATIONS = (n: number): readonly Cidr[] =>
  [`10.${n}00.0.0/16`, `10.${n}01.0.0/16`, `fd0${n}:1::/64`, `fd0${n}:2::/64`].map(parseCidr);
const VIAS = (n: number): readonly Ip[] =>
  [`10.0.${n}.1`, `10.${n}.9.1`, '10.250.0.1', `fd00:${n}::1`, 'fe80::1'].map(parseIp);

/** Without two addresses that are one but for the prefix length. */
const anyAddresses = (n: number) => fc.subarray([...ADDRESSES(n)]);

const anyRoute = (n: number) =>
  fc
    .record({
      dst: fc.constantFrom(...DESTINATIONS(n)),
      via: fc.option(fc.constantFrom(...VIAS(n)), { nil: undefined }),
      mtu: anyMtu,
    })
    .map(({ dst, via, mtu }) => ({
      dst,
      ...(via === undefined || ipFamily(via) !== cidrFamily(dst) ? {} : { via }),
      ...(mtu < 1300 ? {} : { mtu }),
    }));

const anyMtu = fc.constantFrom(1000, 1280, 1400, 1500);

const anyInterface = (n: number): fc.Arbitrary<PodInterface> =>
  fc
    .record({
      name: fc.constant(`eth${n}`),
      hostName: fc.constant(`host${n}`),
      mac: anyMac(n),
      mtu: anyMtu,
      addresses: anyAddresses(n),
      routes: fc.uniqueArray(anyRoute(n), { selector: ({ dst }) => dst, maxLength: 4 }),
      // The first interface has the default route of IPv4, the second that of IPv6.
      defaultGateways: fc.subarray(
        VIAS(n).filter((via) => ipFamily(via) === (n === 1 ? 4 : 6)),
        { maxLength: 1 },
      ),
      // Now and then it is another pod's, which is refused unless the two ends belong together.
      alias: fc.nat(9).map((dice) => (dice === 0 ? `ovn-udn:b${n}` : `ovn-udn:a${n}`)),
      txChecksum: fc.boolean(),
      hears: anyHearing,
    })
    .map(withoutIpv6OnSmallMtu);

/** Rules of every kind of test. */
const anyHearing: fc.Arbitrary<PodInterface['hears']> = fc.record({
  isLocked: fc.boolean(),
  shared: fc.constantFrom(
    sharedChain([]),
    sharedChain([{ tests: [{ sender: 'locked' }], verdict: 'return' }]),
    sharedChain([{ tests: [], verdict: 'drop' }]),
  ),
  rules: fc.uniqueArray(
    fc.constantFrom<FrameRule>(
      {
        tests: [
          { at: 12, is: '86dd' },
          { at: 54, from: 130, to: 137 },
        ],
        verdict: 'drop',
      },
      { tests: [{ at: 22, is: 'fe80', mask: 'ffc0' }, { length: 86 }], verdict: 'accept' },
      { tests: [{ sender: 'locked' }], verdict: 'drop' },
      { tests: [{ sender: 'not locked' }], verdict: 'accept' },
      { tests: [], verdict: 'accept' },
    ),
  ),
});

const withoutIpv6OnSmallMtu = (one: PodInterface): PodInterface => {
  if (one.mtu >= 1280) return one;
  return {
    ...one,
    addresses: one.addresses.filter((address) => cidrFamily(address) === 4),
    routes: one.routes.filter(({ dst }) => cidrFamily(dst) === 4),
    defaultGateways: one.defaultGateways.filter((via) => ipFamily(via) === 4),
  };
};

const nodeDisturbance = (n: number): fc.Arbitrary<Disturbance> => {
  const name = `host${n}`;
  return fc
    .oneof(
      fc.constant<KernelOp>({ op: 'link.delete', name }),
      fc
        .oneof(
          fc.record({ up: fc.boolean() }),
          fc.record({ mtu: anyMtu }),
          fc.record({ group: fc.constantFrom(POD_LINK_GROUP, DYING_LINK_GROUP) }),
          fc.record({ mac: anyMac(n) }),
        )
        .map((change): KernelOp => ({ op: 'link.set', name, change })),
      fc.constantFrom('none', 'eui64').map((mode): KernelOp => ({ op: 'link.addrGenMode', name, mode })),
    )
    .map((op) => ({ where: 'node', op }));
};

const podDisturbance = (n: number): fc.Arbitrary<Disturbance> => {
  const name = `eth${n}`;
  const anyRouteOp = fc
    .tuple(fc.constantFrom('route.put', 'route.delete'), anyRoute(n), fc.constantFrom(85, 4))
    .map(([op, fields, protocol]): KernelOp => ({ op, route: toRoute(name, fields, protocol) }));
  const settings = ['disable_ipv6', 'accept_ra', 'accept_dad'].map((key) => `ipv6/conf/${name}/${key}`);
  return fc
    .oneof(
      fc.constant<KernelOp>({ op: 'link.delete', name }),
      fc
        .oneof(fc.record({ up: fc.boolean() }), fc.record({ mtu: anyMtu }), fc.record({ mac: anyMac(n) }))
        .map((change): KernelOp => ({ op: 'link.set', name, change })),
      fc
        .tuple(fc.constantFrom('address.put', 'address.delete'), fc.constantFrom(...ADDRESSES(n)))
        .map(([op, address]): KernelOp => ({ op, address: { link: name, address } })),
      anyRouteOp,
      fc
        .tuple(fc.constantFrom(...settings), fc.constantFrom('0', '1'))
        .map(([key, value]): KernelOp => ({ op: 'sysctl.set', key, value })),
      fc.boolean().map((on): KernelOp => ({ op: 'link.txChecksum', name, on })),
    )
    .map((op) => ({ where: 'pod', op }));
};

const toRoute = (dev: string, fields: Parameters<typeof route>[0], protocol: number): Route =>
  route({ ...fields, dev, protocol, ...(fields.via === undefined ? {} : { onlink: true }) });
