import { cidrFamily } from '../../../net/cidr.ts';
import { ipFamily } from '../../../net/ip.ts';
import type { SysctlKey } from '../kernel/types.ts';
import type { PodInterface } from './types.ts';

/** RFC 8200 section 5. With less the kernel takes IPv6 off a link. */
export const MIN_MTU_IPV6 = 1280;

/**
 * IPv6 settings of the pod's end, made before it comes up. Where the kernel has no IPv6 there is nothing to set.
 *
 * - `disable_ipv6`: runtimes and hosts may have it on for new interfaces.
 * - `accept_ra`: off, also in pods without IPv6. All routes come from here; a neighbour that sends router
 *   advertisements would become the default gateway of pods that have none for IPv6 (CVE-2020-10749).
 * - `accept_dad`: off. Addresses come from IPAM and the link-local one from the MAC, which does too; detection would keep
 *   that one unusable for up to two seconds.
 */
export const settingsOf = (desired: PodInterface): readonly (readonly [SysctlKey, string])[] => {
  const setting = (key: string, value: string) => [`ipv6/conf/${desired.name}/${key}`, value] as const;
  const always = [setting('accept_ra', '0'), setting('accept_dad', '0')];
  return needsIpv6(desired) ? [setting('disable_ipv6', '0'), ...always] : always;
};

export const needsIpv6 = ({ addresses, routes, defaultGateways }: PodInterface): boolean =>
  [...addresses, ...routes.map(({ dst }) => dst)].some((prefix) => cidrFamily(prefix) === 6) ||
  defaultGateways.some((gateway) => ipFamily(gateway) === 6);
