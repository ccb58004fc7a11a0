/** Which of the addresses outside that a Service asks for are not its own: what agents find, by their own code. Pure. */

import { ExternalClaims, type ServiceClaim } from '../../agent/inputs/external-claims.ts';
import type { EndpointNetwork } from '../../agent/model/services/endpoints.ts';
import { externalAddresses } from '../../agent/model/services/external-addresses.ts';
import { ApiError } from '../../api/errors.ts';
import { SERVICE_LABELS } from '../../api/names.ts';
import type { Service } from '../../api/service.ts';
import { UNKNOWN_RANGES } from './service-endpoints.ts';
import type { ServiceState } from './service-state.ts';

/** Of all Services that may be seen. */
export const claimsOf = (services: readonly ServiceState[]): ExternalClaims => {
  const claims = new ExternalClaims();
  for (const state of services) {
    if (state.service instanceof ApiError || isNobodys(state.service)) continue;
    claims.replace(undefined, claimOf(state, state.service));
  }
  return claims;
};

/** Which addresses are those of nodes, and node ports therefore others', is not looked at. */
export const externalNotes = (
  state: ServiceState,
  service: Service,
  network: EndpointNetwork,
  claims: ExternalClaims,
): readonly string[] =>
  externalAddresses(
    claimOf(state, service),
    network,
    {
      cluster: { ...UNKNOWN_RANGES, clusterSubnets: [] },
      externalAddress: (id) => claims.ownerOf(id),
      // A tenant may not read nodes.
      isNodeAddress: () => false,
    },
    { addresses: [] },
  ).refusals.map(({ message }) => message);

const isNobodys = ({ metadata, clusterIps }: Service): boolean =>
  SERVICE_LABELS.proxyName in metadata.labels || clusterIps.length === 0;

const claimOf = (
  { namespace, name, created }: ServiceState,
  { ports, clusterIps, externalIps, loadBalancerIps, healthCheckNodePort }: Service,
): ServiceClaim => ({
  ...{ namespace, name, createdAt: created },
  ...{ ports, clusterIps, externalIps, loadBalancerIps, healthCheckNodePort },
});
