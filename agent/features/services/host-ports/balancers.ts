/** The load balancers of a pod's `hostPort`s: what others send to the node, and what the host sends itself. */
import { type ClusterConfig, masqueradeAddresses } from '../../../../api/cluster-config.ts';
import { SERVICE_PROTOCOLS } from '../../../../api/service.ts';
import { type Ip, ipFamily } from '../../../../net/ip.ts';
import { withPort } from '../../../model/services/endpoints.ts';
import type { LoadBalancerConfig, Scope } from '../ovn/configs.ts';
import type { OpenHostPort } from './open.ts';

/** What of the node decides which there are. */
export interface BalancerSite {
  readonly cluster: ClusterConfig;
  /** The network has a gateway router here. */
  readonly hasRouter: boolean;
  /** The host takes what comes from outside, and sends it on by the management port. */
  readonly isLocalMode: boolean;
}

/**
 * A pod is where its port is, as a Service with `externalTrafficPolicy: Local` and one endpoint: clients keep their addresses, but for the
 * host itself, which OVN could not answer then.
 */
export const balancersOf = (open: readonly OpenHostPort[], site: BalancerSite): LoadBalancerConfig[] =>
  SERVICE_PROTOCOLS.flatMap((protocol) => {
    const ports = open.filter((one) => one.protocol === protocol);
    const config = (scope: Scope, vipsOf: (port: OpenHostPort) => readonly Ip[]): LoadBalancerConfig[] => {
      const entries = ports.flatMap((one) =>
        vipsOf(one).map((ip) => [withPort(ip, one.port), withPort(one.target, one.targetPort)] as const),
      );
      return entries.length === 0 ? [] : [{ scope, protocol, vips: Object.fromEntries(entries) }];
    };
    const byHost = ({ family, addresses }: OpenHostPort): readonly Ip[] =>
      site.isLocalMode && addresses.length > 0 ? ofFamily('hostEtpLocal', family, site) : [];
    return [
      ...config('node_switch', (one) => [...one.addresses, ...byHost(one)]),
      ...(site.hasRouter
        ? [
            ...config('node_router', (one) => hostVips(one, site)),
            ...config('node_local_router', ({ addresses }) => addresses),
          ]
        : []),
    ];
  });

/** At which the host reaches the port itself. Those of loopback addresses may be another pod's. */
const hostVips = ({ family, addresses, loopbacks }: OpenHostPort, site: BalancerSite): readonly Ip[] => [
  ...(addresses.length > 0 ? ofFamily('hostPorts', family, site) : []),
  ...(loopbacks.length > 0 ? ofFamily('loopbackHostPorts', family, site) : []),
];

const ofFamily = (
  which: Parameters<typeof masqueradeAddresses>[1],
  family: OpenHostPort['family'],
  { cluster }: Pick<BalancerSite, 'cluster'>,
): readonly Ip[] => masqueradeAddresses(cluster, which).filter((ip) => ipFamily(ip) === family);
