/** Addresses that this node no longer has, for who holds connections from them. */
import { networkInterfaces } from 'node:os';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Netlink } from '../../datapath/netlink/netlink.ts';
import { addressOf } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';

/** Links that are recreated, as with a restart of ovs-vswitchd, get their addresses again, and connections live on. */
const GRACE_MS = 2_000;

export interface LostAddressesOptions {
  readonly clock?: Pick<Clock, 'schedule'>;
  readonly hasAddress?: (address: Ip) => boolean;
}

/** @returns what ends it */
export const watchLostAddresses = (
  netlink: Pick<Netlink, 'watch'>,
  listener: (address: Ip) => void,
  { clock = systemClock, hasAddress = isOnAnyLink }: LostAddressesOptions = {},
): (() => void) => {
  const cancels = new Map<Ip, () => void>();
  const check = (address: Ip): void => {
    cancels.delete(address);
    if (!hasAddress(address)) listener(address);
  };
  const unwatch = netlink.watch((events) => {
    for (const event of events) {
      if (event.kind !== 'address' || event.change !== 'gone') continue;
      const address = addressOf(event.address.address);
      cancels.get(address)?.();
      cancels.set(
        address,
        clock.schedule(GRACE_MS, () => check(address)),
      );
    }
  });
  return () => {
    unwatch();
    for (const cancel of cancels.values()) cancel();
  };
};

const isOnAnyLink = (desired: Ip): boolean =>
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === desired));
