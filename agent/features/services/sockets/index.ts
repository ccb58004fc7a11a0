/**
 * The desired state of the ports of this node's own network stack, for Services. Packets for node ports and external
 * addresses go to the Service before a process sees them: a process that listens there loses them, so that is reported
 * (docs/adr/0050-report-who-listens-on-node-ports.md). The agent itself answers health checks.
 */
import type { ServicePort } from '../../../../api/service.ts';
import { addressOf } from '../../../../net/cidr.ts';
import { type Family, ipFamily } from '../../../../net/ip.ts';
import { type ServiceFact, type SliceFact, serviceKey } from '../../../model/facts.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../../model/fragment.ts';
import type { HealthCheck, PortClaim } from '../../../model/node-ports.ts';
import { networkSlices } from '../../../model/services/endpoints.ts';
import { type ExternalAddresses, externalAddresses } from '../../../model/services/external-addresses.ts';
import type { View } from '../../../model/view.ts';
import { localNode } from '../local-node.ts';
import { localServiceNetwork } from '../published.ts';

export const nodePorts: FeatureOver<'service'> = {
  name: 'node-ports',
  over: 'service',
  render: ({ service: key }, view) => {
    const service = view.service(key);
    if (service === undefined || !wantsPorts(service)) return EMPTY_FRAGMENT;
    const network = localServiceNetwork(service, view);
    if (network === undefined) return EMPTY_FRAGMENT;
    const port = service.healthCheckNodePort;
    const node = localNode(network, view);
    const check = (): HealthCheck[] => {
      if (port === undefined) return [];
      // Where nothing comes in by node ports, no endpoint is reached.
      const isReached = node.hasRouter && node.hasNodePorts;
      const slices = isReached ? networkSlices(network, view.serviceSlices(key), view).slices : [];
      return [{ kind: 'health-check', service: key, port, localEndpoints: localEndpoints(service, slices, view.node) }];
    };
    const external = externalAddresses(service, network, view, node);
    if (!node.hasNodePorts) return { nodePorts: { items: check() } };
    const claims = [...nodePortClaims(service, external), ...addressClaims(service, external, view)];
    return { nodePorts: { items: [...check(), ...claims] } };
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

const nodePortClaims = (service: ServiceFact, external: ExternalAddresses): PortClaim[] =>
  service.ports.flatMap((one): PortClaim[] => {
    const { protocol } = one;
    const port = external.nodePort(one);
    if (port === undefined || protocol === 'SCTP') return [];
    return [{ kind: 'claim', object: `Service/${serviceKey(service)}`, protocol, port, families: familiesOf(service) }];
  });

/** Of addresses that the node itself has. */
const addressClaims = (service: ServiceFact, external: ExternalAddresses, view: View): PortClaim[] => {
  if (service.externalIps.length + service.loadBalancerIps.length === 0) return [];
  const own = new Set(view.hostAddresses(view.node).map(addressOf));
  return service.ports.flatMap((one) => {
    const { protocol, port } = one;
    if (protocol === 'SCTP') return [];
    const ips = external.ips(one).filter((ip) => own.has(ip));
    return ips.map((ip): PortClaim => {
      return { kind: 'claim', object: `Service/${serviceKey(service)}`, protocol, port, ip, families: [ipFamily(ip)] };
    });
  });
};
