/** What the programs of a cluster have to agree on, as environment variables (`api/cluster-config.ts`). */
import { addressAt, parseCidr } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import type { IpFamilies, SandboxOptions } from './options.ts';

interface Ranges {
  readonly clusterSubnets: string;
  readonly serviceSubnets: readonly string[];
}

const RANGES: Readonly<Record<IpFamilies, Ranges>> = {
  4: { clusterSubnets: '10.128.0.0/14/23', serviceSubnets: ['10.96.0.0/16'] },
  6: { clusterSubnets: 'fd00:10:128::/48/64', serviceSubnets: ['fd00:10:96::/112'] },
  dual: {
    clusterSubnets: '10.128.0.0/14/23,fd00:10:128::/48/64',
    serviceSubnets: ['10.96.0.0/16', 'fd00:10:96::/112'],
  },
};

export const serviceSubnets = (families: IpFamilies): readonly string[] => RANGES[families].serviceSubnets;

/** The ClusterIPs that kubelets give to pods, whether a DNS server is there or not. */
export const dnsAddresses = (families: IpFamilies): readonly Ip[] =>
  serviceSubnets(families).map((subnet) => addressAt(parseCidr(subnet), DNS_OFFSET));

/** Where clusters have their DNS server, in the range of Services. */
const DNS_OFFSET = 10;

/** The first address of the range: the Service default/kubernetes. */
export const apiAddresses = (families: IpFamilies): readonly Ip[] =>
  serviceSubnets(families).map((subnet) => addressAt(parseCidr(subnet), 1));

export const CLUSTER_DOMAIN = 'cluster.local';

export const settingsEnvironment = ({
  ipFamily,
  gatewayMode,
  encryption,
  settings,
}: Pick<SandboxOptions, 'ipFamily' | 'gatewayMode' | 'encryption' | 'settings'>): Record<string, string> => ({
  UDN_CLUSTER_SUBNETS: RANGES[ipFamily].clusterSubnets,
  UDN_SERVICE_SUBNETS: RANGES[ipFamily].serviceSubnets.join(','),
  UDN_GATEWAY_MODE: gatewayMode,
  UDN_ENCRYPTION: encryption,
  ...settings,
});
