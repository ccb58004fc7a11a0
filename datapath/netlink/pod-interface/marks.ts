/**
 * How we know our own links. Both ends are made in a group of ours (`ip link show group N`): it is part of the creation,
 * so that there is no moment without a mark. The alias, which the kernel takes only later, says whose it is.
 */
import { DYING_LINK_GROUP, POD_LINK_GROUP } from '../../../api/pod-links.ts';
import { type Mac, macFromBytes, macToBytes } from '../../../net/mac.ts';
import type { Link } from '../link/types.ts';

export const ALIAS_PREFIX = 'ovn-udn:';

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
