import { addressOf, type Cidr, cidrFamily } from '../../../../net/cidr.ts';

/** ovn-nb(5), Logical_Switch `other_config`: `ipv6_prefix` is the bare first address. */
export const switchSubnets = (subnets: readonly Cidr[]): Record<string, string> =>
  Object.fromEntries(
    subnets.map((subnet) => (cidrFamily(subnet) === 4 ? ['subnet', subnet] : ['ipv6_prefix', addressOf(subnet)])),
  );
