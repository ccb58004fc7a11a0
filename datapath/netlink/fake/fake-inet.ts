import { constants } from 'node:os';
import {
  addressOf,
  cidrContainsIp,
  cidrFamily,
  type InterfaceAddress,
  interfaceAddress,
  networkOfInterface,
  prefixLength,
} from '../../../net/cidr.ts';
import { type Family, type Ip, isLinkLocal6 } from '../../../net/ip.ts';
import { linkLocalFromMac } from '../../../net/mac.ts';
import type { Address, NewAddress } from '../address/types.ts';
import { kernelError } from '../errors.ts';
import { KERNEL_PROTOCOL, MAIN_TABLE, type Route, route, routeKey } from '../route/types.ts';
import { type FakeLink, hasCarrier, hasIpv6 } from './fake-link.ts';

const { EACCES, EADDRNOTAVAIL, EHOSTUNREACH, EINVAL, ENETDOWN, ENETUNREACH, ESRCH } = constants.errno;
const IPV6_CONNECTED_METRIC = 256;

/** The addresses and routes of a namespace, and what changing one of them does to the others. */
export class FakeInet {
  addresses: readonly Address[] = [];
  routes: readonly Route[] = [];

  putAddress(link: FakeLink, { address, detectDuplicates, ...details }: Omit<NewAddress, 'link'>): void {
    const family = cidrFamily(address);
    if (family === 6 && !hasIpv6(link)) throw kernelError(`put address ${address}`, EACCES);
    const known = this.#on(link, family).find((other) => isSame(family, other.address, address));
    if (known === undefined) this.#add(link, address, 'global', details);
    else this.addresses = this.addresses.map((other) => (other === known ? changed(known, details) : other));
  }

  deleteAddress(link: FakeLink, address: InterfaceAddress): void {
    const family = cidrFamily(address);
    const found = this.#on(link, family).find((other) => other.address === address);
    if (found === undefined) throw kernelError(`delete address ${address}`, EADDRNOTAVAIL);
    this.addresses = this.addresses.filter((other) => other !== found && !this.#isSecondary(found, other));
    if (family === 6) this.#forgetSource(addressOf(address));
    this.#dropConnected(link, address);
    if (family === 4 && this.#on(link, 4).length === 0) this.#dropRoutes(link, 4);
  }

  putRoute(link: FakeLink | undefined, desired: Route): void {
    if (link?.up === false) throw kernelError(`put route ${desired.dst}`, ENETDOWN);
    if (link !== undefined && cidrFamily(desired.dst) === 6 && !hasIpv6(link)) {
      throw kernelError(`put route ${desired.dst}`, EACCES);
    }
    if (desired.via !== undefined && link !== undefined) this.#requireReachable(link, desired, desired.via);
    this.routes = [...this.routes.filter((other) => routeKey(other) !== routeKey(desired)), desired];
  }

  deleteRoute(target: Route): void {
    const found = this.routes.find(
      (other) => routeKey(other) === routeKey(target) && other.protocol === target.protocol && other.dev === target.dev,
    );
    if (found === undefined) throw kernelError(`delete route ${target.dst}`, ESRCH);
    this.routes = this.routes.filter((other) => other !== found);
  }

  linkUp(link: FakeLink): void {
    for (const { address, noPrefixRoute } of this.#on(link, 4)) {
      if (noPrefixRoute !== true) this.#addConnected(link, address);
    }
    this.ipv6On(link);
  }

  linkDown(link: FakeLink): void {
    this.#dropRoutes(link, 4);
    this.ipv6Off(link);
  }

  /** The own address comes when both ends are up. */
  ipv6On(link: FakeLink): void {
    if (!hasCarrier(link) || !hasIpv6(link) || link.kind === undefined || link.ipv6.addrGenMode !== 'eui64') return;
    const own = interfaceAddress(linkLocalFromMac(link.mac), 64);
    if (!this.#on(link, 6).some(({ address }) => address === own)) this.#add(link, own, 'link');
  }

  ipv6Off(link: FakeLink): void {
    this.addresses = this.addresses.filter((other) => other.link !== link.name || cidrFamily(other.address) === 4);
    this.#dropRoutes(link, 6);
  }

  linkGone(link: FakeLink): void {
    this.addresses = this.addresses.filter((other) => other.link !== link.name);
    this.#dropRoutes(link, 4);
    this.#dropRoutes(link, 6);
  }

  #on(link: FakeLink, family: Family): Address[] {
    return this.addresses.filter((other) => other.link === link.name && cidrFamily(other.address) === family);
  }

  #add(
    link: FakeLink,
    address: InterfaceAddress,
    scope: 'global' | 'link',
    details: Omit<NewAddress, 'link' | 'address'> = {},
  ): void {
    this.addresses = [...this.addresses, { ...details, link: link.name, address, scope, state: 'valid' }];
    if (link.up && details.noPrefixRoute !== true) this.#addConnected(link, address);
  }

  /** With the first IPv4 address of a network on a link go the others of it (`promote_secondaries` is off). */
  #isSecondary(first: Address, other: Address): boolean {
    return (
      cidrFamily(first.address) === 4 &&
      other.link === first.link &&
      this.addresses.indexOf(other) > this.addresses.indexOf(first) &&
      networkOfInterface(other.address) === networkOfInterface(first.address)
    );
  }

  #addConnected(link: FakeLink, address: InterfaceAddress): void {
    const isIpv4 = cidrFamily(address) === 4;
    if (isIpv4 && prefixLength(address) === 32) return;
    const connected = route({
      table: tableOf(link),
      dst: networkOfInterface(address),
      dev: link.name,
      protocol: KERNEL_PROTOCOL,
      metric: isIpv4 ? 0 : IPV6_CONNECTED_METRIC,
      ...(isIpv4 ? { src: addressOf(address) } : {}),
    });
    if (this.routes.some((other) => routeKey(other) === routeKey(connected) && other.dev === link.name)) return;
    this.routes = [...this.routes, connected];
  }

  #dropConnected(link: FakeLink, address: InterfaceAddress): void {
    const network = networkOfInterface(address);
    const isStillUsed = this.#on(link, cidrFamily(address)).some(
      (other) => networkOfInterface(other.address) === network,
    );
    this.routes = this.routes.filter(
      ({ dev, dst, protocol, src }) =>
        dev !== link.name ||
        ((isStillUsed || dst !== network || protocol !== KERNEL_PROTOCOL) && src !== addressOf(address)),
    );
  }

  /** net/ipv6/route.c, rt6_remove_prefsrc: the route stays. */
  #forgetSource(source: Ip): void {
    this.routes = this.routes.map(({ src, ...other }) =>
      src === undefined || src === source ? other : { ...other, src },
    );
  }

  #dropRoutes(link: FakeLink, family: Family): void {
    this.routes = this.routes.filter(({ dev, dst }) => dev !== link.name || cidrFamily(dst) !== family);
  }

  #requireReachable(link: FakeLink, { dst, onlink }: Route, via: Ip): void {
    const family = cidrFamily(dst);
    if (family === 6 && this.addresses.some(({ address }) => addressOf(address) === via)) {
      throw kernelError(`put route ${dst}`, EINVAL);
    }
    const isReachable =
      onlink === true ||
      isLinkLocal6(via) ||
      this.#on(link, family).some(({ address }) => cidrContainsIp(networkOfInterface(address), via));
    if (!isReachable) throw kernelError(`put route ${dst}`, family === 4 ? ENETUNREACH : EHOSTUNREACH);
  }
}

/** Of a link's own networks. */
const tableOf = ({ vrfTable, master }: FakeLink): number => vrfTable ?? master?.vrfTable ?? MAIN_TABLE;

const changed = ({ deprecated: _, ...address }: Address, { deprecated }: Pick<NewAddress, 'deprecated'>): Address =>
  deprecated === true ? { ...address, deprecated } : address;

/** An IPv6 address is on a link once, whatever its prefix length; an IPv4 address once per prefix length. */
const isSame = (family: Family, a: InterfaceAddress, b: InterfaceAddress): boolean =>
  family === 4 ? a === b : addressOf(a) === addressOf(b);
