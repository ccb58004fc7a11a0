import { cidrContainsIp } from '../../../net/cidr.ts';
import type { Ip } from '../../../net/ip.ts';
import type { NetworkFact } from '../facts.ts';

/** `k8s.ovn.org/owner-type` of the address sets of domain names; `k8s.ovn.org/name` is the name. */
export const DOMAIN_SET_TYPE = 'DomainName';

/** Who owns a name must not choose a pod of the network by it: selectors are for pods. @param network undefined: it is not known yet */
export const domainAddressesOn = (
  network: Pick<NetworkFact, 'subnets'> | undefined,
  addresses: readonly Ip[],
): readonly Ip[] => addresses.filter((ip) => network?.subnets.some(({ cidr }) => cidrContainsIp(cidr, ip)) !== true);
