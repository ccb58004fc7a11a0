/**
 * How we know our own links. Both ends are made in a group of ours (`ip link show group N`): it is part of the creation,
 * so that there is no moment without a mark. The alias, which the kernel takes only later, says whose it is.
 */
import { type Mac, macFromBytes, macToBytes } from '../../../net/mac.ts';
import type { Link } from '../link/types.ts';

export const ALIAS_PREFIX = 'ovn-udn:';

/** The three letters "udn" as a number. */
export const POD_LINK_GROUP = 0x75_64_6e;
/** Links that are to be deleted, all at once: `Kernel.deleteGroup`. One left behind by a crash goes with the next. */
export const DYING_LINK_GROUP = POD_LINK_GROUP + 1;

export const isOurs = ({ kind, group, alias }: Link): boolean =>
  kind === 'veth' &&
  (group === POD_LINK_GROUP || group === DYING_LINK_GROUP || (alias?.startsWith(ALIAS_PREFIX) ?? false));

/**
 * The MAC of the node's end: the pod's with one bit of the first byte changed, so that it never is the MAC of a pod. It
 * is given because udev changes a random one after the link has been made (systemd.link(5), MACAddressPolicy).
 */
export const hostEndMac = (mac: Mac): Mac => {
  const [first = 0, ...rest] = macToBytes(mac);
  return macFromBytes(Uint8Array.of(first ^ 0x04, ...rest));
};
