/**
 * The two masquerade addresses of each network with an id. They mean the same on every node and leave none: they
 * distinguish traffic of different networks that looks the same.
 */
import { addressAt, cidrSize } from '../net/cidr.ts';
import { DEFAULT_NETWORK_ID, MAX_NETWORKS, type NetworkId } from '../net/ids.ts';
import type { Ip } from '../net/ip.ts';
import type { ClusterConfig } from './cluster-config.ts';

/** `gateway`: of the gateway router, towards the outside. `management`: of the management port, towards the host. */
export type MasqueradeEnd = 'gateway' | 'management';

/** Network 1 has the 11th and the 12th address; those before are fixed, see `MASQUERADE_OFFSETS`. */
const FIRST_OFFSET: Readonly<Record<MasqueradeEnd, number>> = { gateway: 9, management: 10 };

/**
 * One address per masquerade subnet, in the order of the config. Undefined when a subnet is too small for the id, and for
 * the default network, which has the fixed ones.
 */
export const networkMasqueradeAddresses = (
  { masqueradeSubnets }: Pick<ClusterConfig, 'masqueradeSubnets'>,
  id: NetworkId,
  end: MasqueradeEnd,
): readonly Ip[] | undefined => {
  const offset = BigInt(FIRST_OFFSET[end] + 2 * id);
  if (id === DEFAULT_NETWORK_ID || masqueradeSubnets.some((subnet) => cidrSize(subnet) <= offset)) return undefined;
  return masqueradeSubnets.map((subnet) => addressAt(subnet, offset));
};

/** The largest id with addresses in every masquerade subnet. */
export const lastMasqueradedNetwork = ({ masqueradeSubnets }: Pick<ClusterConfig, 'masqueradeSubnets'>): number => {
  const sizes = masqueradeSubnets.map((subnet) => Number(cidrSize(subnet)));
  const last = Math.floor((Math.min(...sizes) - 1 - FIRST_OFFSET.management) / 2);
  return Math.max(0, Math.min(last, MAX_NETWORKS - 1));
};
