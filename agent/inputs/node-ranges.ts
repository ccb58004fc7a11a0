/** Which addresses may be a node's: its Node is written by its own agent, which may be somebody else's by now. Pure. */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import {
  addressOf,
  type Cidr,
  cidrContainsIp,
  type InterfaceAddress,
  parseCidr,
  prefixLength,
} from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';

export interface NodeRanges {
  /** Why no host is reached at this address; a message without subject and end. */
  refusalOf(ip: Ip): string | undefined;
  /** The same of what is to be the node's place on the transit switches. */
  transitRefusalOf(address: InterfaceAddress): string | undefined;
}

/** The cluster's ranges only, and not the subnets of networks: those are tenants' to choose, who could take nodes their addresses. */
export const nodeRanges = (cluster: ClusterConfig): NodeRanges => {
  const ranges = [...rangesOf(cluster), ...NO_HOSTS];
  return {
    refusalOf: (ip) => {
      const found = ranges.find(([, cidr]) => cidrContainsIp(cidr, ip));
      return found && `is in the ${found[0]} ${found[1]}, which is not for nodes`;
    },
    transitRefusalOf: (address) => {
      const own = cluster.transitSubnets.find((subnet) => cidrContainsIp(subnet, addressOf(address)));
      if (own === undefined) return `is in no transit subnet (${cluster.transitSubnets.join(', ')})`;
      // A router takes what is within the length for its neighbours.
      return prefixLength(own) === prefixLength(address)
        ? undefined
        : `does not have the prefix length of the transit subnet ${own}`;
    },
  };
};

const rangesOf = (cluster: ClusterConfig): (readonly [string, Cidr])[] => [
  ...cluster.clusterSubnets.map(({ cidr }) => ['cluster subnet', cidr] as const),
  ...cluster.serviceSubnets.map((cidr) => ['service subnet', cidr] as const),
  ...[...cluster.joinSubnets, ...cluster.udnJoinSubnets].map((cidr) => ['join subnet', cidr] as const),
  ...cluster.transitSubnets.map((cidr) => ['transit subnet', cidr] as const),
  ...cluster.masqueradeSubnets.map((cidr) => ['masquerade subnet', cidr] as const),
];

/** RFC 6890, and RFC 4291, section 2.4. */
const NO_HOSTS = [
  ['unspecified addresses', '0.0.0.0/8'],
  ['loopback addresses', '127.0.0.0/8'],
  ['link-local addresses', '169.254.0.0/16'],
  ['multicast addresses', '224.0.0.0/4'],
  ['broadcast address', '255.255.255.255/32'],
  ['unspecified address', '::/128'],
  ['loopback address', '::1/128'],
  ['link-local addresses', 'fe80::/10'],
  ['multicast addresses', 'ff00::/8'],
].map(([what = '', cidr = '']) => [what, parseCidr(cidr)] as const);
