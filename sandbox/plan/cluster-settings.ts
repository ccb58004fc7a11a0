/** What the programs of a cluster have to agree on, as environment variables (`api/cluster-config.ts`). */
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

export const settingsEnvironment = ({
  ipFamily,
  gatewayMode,
  settings,
}: Pick<SandboxOptions, 'ipFamily' | 'gatewayMode' | 'settings'>): Record<string, string> => ({
  UDN_CLUSTER_SUBNETS: RANGES[ipFamily].clusterSubnets,
  UDN_SERVICE_SUBNETS: RANGES[ipFamily].serviceSubnets.join(','),
  UDN_GATEWAY_MODE: gatewayMode,
  ...settings,
});
