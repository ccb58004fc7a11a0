/**
 * What Services want of the ports of this node's own network stack. Packets for node ports and external addresses go to the
 * Service before a process sees them: who listens there loses them, so that is told (docs/adr/0050-report-who-listens-on-node-ports.md). Health checks are
 * answered by the agent itself.
 */
import type { ServicePort } from '../../../api/service.ts';
import { addressOf } from '../../../net/cidr.ts';
import { type Family, ipFamily } from '../../../net/ip.ts';
import type { ServiceFact, SliceFact } from '../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import type { HealthCheck, PortClaim } from '../../model/node-ports.ts';
import type { View } from '../../model/view.ts';
import { localNetwork } from '../local-network.ts';
import { networkSlices } from '../services/endpoints.ts';
import { serviceNetwork } from '../services/published.ts';

export const nodePorts: FeatureOver<'service'> = {
  name: 'node-ports',
  over: 'service',
  render: ({ service: key }, view) => {
    const service = view.service(key);
    if (service === undefined || !wantsPorts(service)) return EMPTY_FRAGMENT;
    const network = localNetwork(serviceNetwork(service, view) ?? '', view)?.network;
    if (network === undefined) return EMPTY_FRAGMENT;
    const port = service.healthCheckNodePort;
    const check = (): HealthCheck[] => {
      if (port === undefined) return [];
      const { slices } = networkSlices(network, view.serviceSlices(key), view.cluster);
      return [{ kind: 'health-check', service: key, port, localEndpoints: localEndpoints(service, slices, view.node) }];
    };
    return {
      nodePorts: { items: [...check(), ...nodePortClaims(key, service), ...addressClaims(key, service, view)] },
    };
  },
};

/** Most do not, and need not be looked at again for what else changes. */
const wantsPorts = ({ ports, healthCheckNodePort, externalIps, loadBalancerIps }: ServiceFact): boolean =>
  healthCheckNodePort !== undefined ||
  externalIps.length + loadBalancerIps.length > 0 ||
  ports.some(({ nodePort }) => nodePort !== undefined);

/** As kube-proxy counts: addresses that are ready, for any port; those that only still answer while they end are none. */
const localEndpoints = (
  service: ServiceFact,
  slices: readonly SliceFact[],
  node: string,
): HealthCheck['localEndpoints'] =>
  Object.fromEntries(
    familiesOf(service).map((family) => {
      const backing = slices.filter((slice) => slice.family === family && backs(slice, service.ports));
      const here = backing.flatMap(({ ready }) => ready.filter((endpoint) => endpoint.node === node));
      return [family, new Set(here.map(({ ip }) => ip)).size];
    }),
  );

const familiesOf = ({ clusterIps }: ServiceFact): readonly Family[] => [...new Set(clusterIps.map(ipFamily))];

const backs = (slice: SliceFact, ports: readonly ServicePort[]): boolean =>
  slice.ports.some(({ name, protocol }) => ports.some((one) => one.name === name && one.protocol === protocol));

const nodePortClaims = (key: string, service: ServiceFact): PortClaim[] =>
  service.ports.flatMap(({ protocol, nodePort: port }) =>
    port === undefined || protocol === 'SCTP'
      ? []
      : [{ kind: 'claim', service: key, protocol, port, families: familiesOf(service) }],
  );

/** Of addresses that the node itself has. */
const addressClaims = (key: string, service: ServiceFact, view: View): PortClaim[] => {
  const addresses = [...service.externalIps, ...service.loadBalancerIps];
  if (addresses.length === 0) return [];
  const own = new Set(view.hostAddresses(view.node).map(addressOf));
  const taken = [...new Set(addresses)].filter((ip) => own.has(ip));
  return taken.flatMap((ip) =>
    service.ports.flatMap(({ protocol, port }): PortClaim[] =>
      protocol === 'SCTP' ? [] : [{ kind: 'claim', service: key, protocol, port, ip, families: [ipFamily(ip)] }],
    ),
  );
};
