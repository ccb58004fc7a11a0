/** The pools of a layer-2 network's subnets as one value: operations return the next state. */

import { gatewayIp, managementIp, type Network } from '../../api/network.ts';
import { messageOf } from '../../base/error-message.ts';
import {
  type AddressPool,
  addressPool,
  allocateAddress,
  hasFreeAddress,
  isAddressUsed,
  releaseAddress,
  reserveAddress,
} from '../../net/allocator/addresses.ts';
import {
  addressAt,
  addressOf,
  type Cidr,
  cidrContainsIp,
  cidrFamily,
  cidrSize,
  hostRoute,
  type InterfaceAddress,
  interfaceAddress,
  prefixLength,
} from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import { AllocationError } from '../errors.ts';

export interface AddressPools {
  /** In the order of the network's subnets. */
  readonly pools: readonly AddressPool[];
  /** The same without reserved subnets: what pods may request. What is in use is noted in `pools` only. */
  readonly requestable: readonly AddressPool[];
  /** Addresses that no pod may have, even when it asks for one. */
  readonly forbidden: readonly Forbidden[];
  /** Of these, single ones: each has a few, and every address of every pod is looked for among them. */
  readonly own: ReadonlyMap<Ip, string>;
}

interface Forbidden {
  readonly part: Cidr;
  /** For who asks: it is … */
  readonly why: string;
}

export interface TakenAddresses {
  readonly pools: AddressPools;
  /** One per subnet, with its prefix length. */
  readonly addresses: readonly InterfaceAddress[];
}

export const addressPools = (network: Network): AddressPools => {
  const subnets = network.subnets.map(({ cidr }) => cidr);
  const forbidden = [
    ...network.excludedSubnets.map((part) => ({ part, why: `in excluded subnet ${part}` })),
    ...network.infrastructureSubnets.map((part) => ({ part, why: `in infrastructure subnet ${part}` })),
  ];
  // Of two reasons the first is reported.
  const own = new Map(subnets.flatMap((cidr) => ownAddresses(network, cidr)).reverse());
  const refused = [...forbidden.map(({ part }) => part), ...[...own.keys()].map(hostRoute)];
  const excluded = [...network.reservedSubnets, ...refused];
  return {
    pools: subnets.map((cidr) => addressPool(cidr, excluded)),
    requestable: subnets.map((cidr) => addressPool(cidr, refused)),
    forbidden,
    own,
  };
};

/** @param isUsable for a reason that the pools do not know @throws AllocationError ERR_CM_EXHAUSTED */
export const takeNext = (state: AddressPools, isUsable: (ip: Ip) => boolean): TakenAddresses => {
  const taken = state.pools.map((pool) => nextUsable(pool, state, isUsable));
  return {
    pools: { ...state, pools: taken.map(({ pool }) => pool) },
    addresses: taken.map(({ pool, ip }) => interfaceAddress(ip, prefixLength(pool.cidr))),
  };
};

/** @param ips one per subnet, in any order @throws AllocationError ERR_CM_REQUEST or ERR_CM_CONFLICT */
export const takeRequested = (
  state: AddressPools,
  ips: readonly Ip[],
  holderOf: (ip: Ip) => string | undefined,
): TakenAddresses => {
  if (ips.length !== state.pools.length) {
    throw new AllocationError(
      'ERR_CM_REQUEST',
      `${ips.length} addresses are requested (${ips.join(', ')}), but the number of subnets of the network is ${state.pools.length}`,
    );
  }
  const taken = state.pools.map((pool) => {
    const ip = ips.find((one) => cidrContainsIp(pool.cidr, one));
    if (ip === undefined) {
      throw new AllocationError('ERR_CM_REQUEST', `no requested address (${ips.join(', ')}) is in subnet ${pool.cidr}`);
    }
    const refusal = refusalOf(state, ip);
    if (refusal !== undefined) throw new AllocationError('ERR_CM_REQUEST', `requested ${refusal}`);
    if (isAddressUsed(pool, ip)) {
      const holder = holderOf(ip) ?? 'another pod';
      throw new AllocationError('ERR_CM_CONFLICT', `requested address ${ip} already belongs to ${holder}`);
    }
    return { pool: reserveAddress(pool, ip), address: interfaceAddress(ip, prefixLength(pool.cidr)) };
  });
  return {
    pools: { ...state, pools: taken.map(({ pool }) => pool) },
    addresses: taken.map(({ address }) => address),
  };
};

/** Why no pod may have an address. */
export const refusalOf = ({ forbidden, own }: AddressPools, ip: Ip): string | undefined => {
  const why = forbidden.find(({ part }) => cidrContainsIp(part, ip))?.why ?? own.get(ip);
  return why === undefined ? undefined : `address ${ip} is not available to pods: it is ${why}`;
};

/** Why a pod should not have an address of the network that it runs with. */
export const heldRefusalOf = (state: AddressPools, address: InterfaceAddress): string | undefined => {
  const ip = addressOf(address);
  const pool = poolOf(state, ip);
  if (pool === undefined || prefixLength(pool.cidr) === prefixLength(address)) return refusalOf(state, ip);
  return `address ${address} does not have the prefix length of subnet ${pool.cidr}`;
};

/** Notes that a free address is in use; undefined when it is in none of the subnets. */
export const withReserved = (state: AddressPools, ip: Ip): AddressPools | undefined => {
  const pool = poolOf(state, ip);
  return pool === undefined ? undefined : withPool(state, reserveAddress(pool, ip));
};

/** Absent is success. */
export const withReleased = (state: AddressPools, address: InterfaceAddress): AddressPools => {
  const pool = poolOf(state, addressOf(address));
  return pool === undefined ? state : withPool(state, releaseAddress(pool, addressOf(address)));
};

/**
 * Gateway and management port are on primary networks only. The first and, for IPv4, the last address are refused by
 * pools only when they choose, so they are named here for pods that ask.
 */
const ownAddresses = (network: Network, cidr: Cidr): [Ip, string][] => {
  const own = (ip: Ip, what: string): [Ip, string] => [ip, `the ${what} of subnet ${cidr}`];
  const last = addressAt(cidr, cidrSize(cidr) - 1n);
  const ends = [
    own(addressOf(cidr), 'network address'),
    ...(cidrFamily(cidr) === 4 ? [own(last, 'broadcast address')] : []),
  ];
  const ports = [own(gatewayIp(network, cidr), 'gateway'), own(managementIp(network, cidr), 'management port')];
  return [...(cidrSize(cidr) > 2n ? ends : []), ...(network.role === 'primary' ? ports : [])];
};

const nextUsable = (
  start: AddressPool,
  state: AddressPools,
  isUsable: (ip: Ip) => boolean,
): { pool: AddressPool; ip: Ip } => {
  const skipped: Ip[] = [];
  for (let pool = start; ; ) {
    const next = allocate(pool, state);
    if (isUsable(next.ip)) return { pool: skipped.reduce(releaseAddress, next.pool), ip: next.ip };
    skipped.push(next.ip);
    pool = next.pool;
  }
};

const allocate = (pool: AddressPool, state: AddressPools): { pool: AddressPool; ip: Ip } => {
  try {
    return allocateAddress(pool);
  } catch (cause) {
    const hint = hasReservedLeft(pool, state) ? ` ${ONLY_RESERVED_LEFT}` : '';
    throw new AllocationError('ERR_CM_EXHAUSTED', `${messageOf(cause)}${hint}`, { cause });
  }
};

/** Of a subnet without a free address, when pods may still request one. */
export const ONLY_RESERVED_LEFT = 'outside of reservedSubnets, where pods get addresses on request';

const hasReservedLeft = ({ cidr, used }: AddressPool, { requestable }: AddressPools): boolean =>
  requestable.some((pool) => pool.cidr === cidr && hasFreeAddress({ ...pool, used }));

const poolOf = ({ pools }: AddressPools, ip: Ip): AddressPool | undefined =>
  pools.find(({ cidr }) => cidrContainsIp(cidr, ip));

const withPool = (state: AddressPools, changed: AddressPool): AddressPools => ({
  ...state,
  pools: state.pools.map((pool) => (pool.cidr === changed.cidr ? changed : pool)),
});
