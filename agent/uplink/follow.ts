/** How the record of a bridge follows what people and programs do to the links. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { cidrFamily, prefixLength } from '../../net/cidr.ts';
import { isReachable } from './handover.ts';
import type { MovedAddress, MovedRoute, MoveRecord } from './move-record.ts';
import type { Portable } from './portable.ts';

/**
 * The record for a bridge that has `now`. A bridge without any address has lost them with its interface, and is to get them
 * back. A default route that went away without another in its place is to come back, too, while its next hop can be
 * reached; every other change is somebody's wish.
 */
export const follow = (record: MoveRecord, now: Portable): MoveRecord => {
  if (now.addresses.length === 0 && record.addresses.length > 0) return record;
  const lost = record.routes.filter(
    (route) =>
      isDefault(route) &&
      isReachable(route, now.addresses) &&
      !now.routes.some((other) => isDefault(other) && cidrFamily(other.dst) === cidrFamily(route.dst)),
  );
  return { ...record, addresses: now.addresses, routes: [...now.routes, ...lost] };
};

/**
 * The record when there is something on the NIC of a bridge, which is somebody's wish for the node; undefined when that
 * changes nothing. What the NIC got while the bridge has nothing (the node has booted) is all that there is; otherwise it
 * is more.
 */
export const refresh = (record: MoveRecord, nic: Portable, bridge: Portable): MoveRecord | undefined => {
  const isNews = lacks(record, nic);
  if (!isNews && (record.phase === 'moving' || isEmpty(nic))) return undefined;
  const isFresh = nic.addresses.length > 0 && bridge.addresses.length === 0;
  if (isFresh) return { ...record, phase: 'moving', addresses: nic.addresses, routes: nic.routes };
  const base = record.phase === 'moving' ? record : follow(record, bridge);
  return {
    ...base,
    phase: 'moving',
    addresses: [...base.addresses, ...nic.addresses.filter((one) => !hasAddress(base, one))],
    routes: [...base.routes, ...nic.routes.filter((one) => !includes(base.routes, one))],
  };
};

/** `has` lacks something of `wanted`. */
export const lacks = (has: Portable, wanted: Portable): boolean =>
  wanted.addresses.some((one) => !hasAddress(has, one)) || wanted.routes.some((one) => !includes(has.routes, one));

const isEmpty = ({ addresses, routes }: Portable): boolean => addresses.length === 0 && routes.length === 0;

const hasAddress = ({ addresses }: Portable, { address }: MovedAddress): boolean =>
  addresses.some((one) => one.address === address);

const includes = (all: readonly object[], wanted: object): boolean => all.some((one) => isDeepStrictEqual(one, wanted));

const isDefault = ({ dst }: MovedRoute): boolean => prefixLength(dst) === 0;
