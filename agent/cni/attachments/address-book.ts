/**
 * The addresses of this node's subnets and who holds them. An address belongs to a pod from the moment it is given until
 * the pod is gone or finished; what pods hold according to the API is entered before anything new is given.
 */
import { gatewayIp, managementIp, type Network } from '../../../api/network.ts';
import {
  type AddressPool,
  addressPool,
  allocateAddress,
  releaseAddress,
  reserveAddress,
} from '../../../net/allocator/addresses.ts';
import {
  type Cidr,
  cidrContainsIp,
  cidrFamily,
  hostRoute,
  type InterfaceAddress,
  interfaceAddress,
  prefixLength,
} from '../../../net/cidr.ts';
import { NetError } from '../../../net/errors.ts';
import type { Ip } from '../../../net/ip.ts';
import { type Mac, macFromIp } from '../../../net/mac.ts';
import { derivedMac, MacBook } from './mac-book.ts';

interface Holding {
  readonly network: string;
  readonly ips: readonly Ip[];
  readonly mac: Mac | undefined;
}

export class AddressBook {
  /** By network: one pool per subnet of this node. */
  readonly #pools = new Map<string, readonly AddressPool[]>();
  /** By pod, then by NAD key. */
  readonly #holdings = new Map<string, Map<string, Holding>>();
  /** By network and address. Two only when the API says so. */
  readonly #holders = new Map<string, Set<string>>();
  readonly #macs = new MacBook();

  /** What the node has of the network now. What is held stays held, also outside of the subnets. */
  setSubnets(network: Network, subnets: readonly Cidr[]): void {
    if (samePools(this.#pools.get(network.name), subnets)) return;
    const held = this.#holdings
      .values()
      .flatMap((holdings) => holdings.values())
      .filter((holding) => holding.network === network.name)
      .flatMap(({ ips }) => ips)
      .toArray();
    this.#macs.setSubnets(network, subnets);
    const pools = subnets.map((subnet) => addressPool(subnet, infrastructure(network, subnet)));
    this.#pools.set(
      network.name,
      pools.map((pool) => held.reduce(reserveIfFree, pool)),
    );
  }

  /**
   * Enters what a pod has according to the API. The same again is no change.
   * @param mac without one, that of the addresses
   * @returns the pods that hold one of the addresses already: a conflict that somebody has to resolve
   */
  enter(pod: string, nadKey: string, network: string, ips: readonly Ip[], mac = derivedMac(ips)): string[] {
    const before = this.#holdings.get(pod)?.get(nadKey);
    if (before?.network === network && before.ips.join() === ips.join() && before.mac === mac) return [];
    const others = ips.flatMap((ip) => [...this.#holdersOf(network, ip)]).filter((holder) => holder !== pod);
    this.#release(pod, nadKey);
    this.#hold(pod, nadKey, { network, ips, mac });
    this.#change(network, (pool) => ips.reduce(reserveIfFree, pool));
    return others;
  }

  /**
   * Gives one address of each of the node's subnets of the network, or what the pod holds of it already.
   * @param mac that the pod asks for; otherwise the one of its addresses, which nobody else has
   * @throws NetError ERR_NET_EXHAUSTED, or ERR_NET_CONFLICT for a MAC that it may not have, and for a pod that holds an address of other
   *   subnets; nothing is given then
   */
  give(pod: string, nadKey: string, network: string, mac?: Mac): InterfaceAddress[] {
    const pools = this.#pools.get(network) ?? [];
    const held = this.#holdings.get(pod)?.get(nadKey);
    if (held?.network === network) return withPrefixes(held.ips, pools);
    const isFree = (ip: Ip): boolean => mac !== undefined || this.#macs.isFree(network, macFromIp(ip));
    const first = pools.find(({ cidr }) => cidrFamily(cidr) === 4) ?? pools[0];
    const given = pools.map((pool) => allocateFree(pool, pool === first ? isFree : undefined));
    const ips = given.map(({ ip }) => ip);
    if (mac !== undefined) {
      const subnets = pools.map(({ cidr }) => cidr);
      this.#macs.refuse(network, mac, subnets, ips);
    }
    this.#pools.set(
      network,
      given.map(({ pool }) => pool),
    );
    // Of another network that the NAD was about before.
    this.#release(pod, nadKey);
    this.#hold(pod, nadKey, { network, ips, mac: mac ?? derivedMac(ips) });
    return given.map(({ ip, pool }) => interfaceAddress(ip, prefixLength(pool.cidr)));
  }

  /** The pod is gone, finished, or not attached to anything of ours any more. Absent is success. */
  releasePod(pod: string): void {
    for (const nadKey of [...(this.#holdings.get(pod)?.keys() ?? [])]) this.#release(pod, nadKey);
  }

  #release(pod: string, nadKey: string): void {
    const holdings = this.#holdings.get(pod);
    const holding = holdings?.get(nadKey);
    if (holdings === undefined || holding === undefined) return;
    holdings.delete(nadKey);
    if (holdings.size === 0) this.#holdings.delete(pod);
    const { network, ips, mac } = holding;
    if (mac !== undefined) this.#macs.release(network, mac, `${pod} ${nadKey}`);
    for (const ip of ips) this.#holdersOf(network, ip).delete(pod);
    const free = ips.filter((ip) => this.#holdersOf(network, ip).size === 0);
    for (const ip of free) this.#holders.delete(`${network}/${ip}`);
    this.#change(network, (pool) => free.reduce(releaseAddress, pool));
  }

  #hold(pod: string, nadKey: string, holding: Holding): void {
    const holdings = this.#holdings.get(pod) ?? new Map<string, Holding>();
    this.#holdings.set(pod, holdings.set(nadKey, holding));
    if (holding.mac !== undefined) this.#macs.hold(holding.network, holding.mac, `${pod} ${nadKey}`);
    for (const ip of holding.ips) {
      this.#holders.set(`${holding.network}/${ip}`, this.#holdersOf(holding.network, ip).add(pod));
    }
  }

  #change(network: string, change: (pool: AddressPool) => AddressPool): void {
    const pools = this.#pools.get(network);
    if (pools !== undefined) this.#pools.set(network, pools.map(change));
  }

  #holdersOf(network: string, ip: Ip): Set<string> {
    return this.#holders.get(`${network}/${ip}`) ?? new Set();
  }
}

const samePools = (pools: readonly AddressPool[] | undefined, subnets: readonly Cidr[]): boolean =>
  pools !== undefined && pools.map(({ cidr }) => cidr).join() === subnets.join();

/** The lowest that may be given. Those that may not stay free: whoever is in their way goes some day. */
const allocateFree = (pool: AddressPool, isFree?: (ip: Ip) => boolean): { pool: AddressPool; ip: Ip } => {
  const passedOver: Ip[] = [];
  let given = allocateAddress(pool);
  while (isFree?.(given.ip) === false) {
    passedOver.push(given.ip);
    given = allocateAddress(given.pool);
  }
  return { ...given, pool: passedOver.reduce(releaseAddress, given.pool) };
};

/** Addresses that routers and management ports have. */
const infrastructure = (network: Network, subnet: Cidr): Cidr[] =>
  [gatewayIp(network, subnet), managementIp(network, subnet)].map(hostRoute);

/** A recovered address may be in another subnet, or be held twice: neither must stop the recovery. */
const reserveIfFree = (pool: AddressPool, ip: Ip): AddressPool => {
  try {
    return reserveAddress(pool, ip);
  } catch (error) {
    if (error instanceof NetError && (error.code === 'ERR_NET_RANGE' || error.code === 'ERR_NET_CONFLICT')) return pool;
    throw error;
  }
};

const withPrefixes = (ips: readonly Ip[], pools: readonly AddressPool[]): InterfaceAddress[] =>
  ips.map((ip) => {
    const pool = pools.find(({ cidr }) => cidrContainsIp(cidr, ip));
    if (pool !== undefined) return interfaceAddress(ip, prefixLength(pool.cidr));
    const message = `${ip}, which the pod holds, is in no subnet of this node: delete the pod`;
    throw new NetError('ERR_NET_CONFLICT', message, ip);
  });
