/** What of the host's network stack is ours, so that it may be removed when no owner desires it. */
import { type Cidr, cidrContainsIp } from '../../net/cidr.ts';
import { macFromIp } from '../../net/mac.ts';
import type { Address } from '../netlink/address/types.ts';
import type { Link } from '../netlink/link/types.ts';
import type { NewNeighbour } from '../netlink/neighbour/types.ts';
import { ALIAS_PREFIX } from '../netlink/pod-interface/marks.ts';
import { OUR_PROTOCOL, type Route } from '../netlink/route/types.ts';
import type { Rule } from '../netlink/rule/types.ts';

export interface HostOwnership {
  /** The routing tables of networks' VRFs, both ends included. */
  readonly vrfTables: { readonly first: number; readonly last: number };
  /** Where routes with our protocol number are ours, beside the tables of VRFs. */
  readonly otherTables: readonly number[];
  /** At these priorities, rules with our protocol number are ours. */
  readonly rulePriorities: readonly number[];
  /**
   * Permanent neighbours with such an address are ours on every link, when their MAC is the one that derives from the address:
   * routing daemons put 169.254.0.1 on links for BGP without addresses (RFC 8950), with the MAC of a router.
   */
  readonly neighbourSubnets?: readonly Cidr[];
}

/** On the VRFs that we make: `ip -d link show`. */
export const VRF_ALIAS = `${ALIAS_PREFIX}vrf`;

export const isVrfTable = (table: number, { vrfTables }: HostOwnership): boolean =>
  table >= vrfTables.first && table <= vrfTables.last;

export const isOurVrf = ({ kind, alias, vrfTable }: Link, ownership: HostOwnership): boolean =>
  kind === 'vrf' && alias === VRF_ALIAS && vrfTable !== undefined && isVrfTable(vrfTable, ownership);

/** Nobody but us has a say in what is on a management port. */
export const isOurPort = (link: string): boolean => link.startsWith('ovn-k8s-mp');

export const isOurAddress = ({ link, scope }: Address): boolean => isOurPort(link) && scope === 'global';

export const isOurNeighbour = (
  { link, address, mac }: NewNeighbour,
  { neighbourSubnets = [] }: HostOwnership,
): boolean =>
  isOurPort(link) || (mac === macFromIp(address) && neighbourSubnets.some((subnet) => cidrContainsIp(subnet, address)));

export const isOurRoute = ({ table, protocol }: Route, ownership: HostOwnership): boolean =>
  protocol === OUR_PROTOCOL && (ownership.otherTables.includes(table) || isVrfTable(table, ownership));

export const isOurRule = ({ priority, protocol }: Rule, { rulePriorities }: HostOwnership): boolean =>
  protocol === OUR_PROTOCOL && rulePriorities.includes(priority);
