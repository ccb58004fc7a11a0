/** The rows of a Service: ovn-nb(5), Load_Balancer. */
import { type ClusterConfig, masqueradeAddresses } from '../../../api/cluster-config.ts';
import { SERVICE_PROTOCOLS, type ServiceProtocol } from '../../../api/service.ts';
import { ipFamily } from '../../../net/ip.ts';
import { type DesiredColumns, type DesiredFragment, rowRef } from '../../../ovsdb/desired/types.ts';
import type { LoadBalancerRow, OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import type { NetworkFact, ServiceFact } from '../../model/facts.ts';
import { clusterLoadBalancerName, loadBalancerGroupName } from '../../model/names.ts';
import { loadBalancerGroupKey, loadBalancerKey } from '../../model/row-keys.ts';
import { type Backends, backendsOf, withPort } from './endpoints.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

export interface LoadBalancerInput {
  readonly service: ServiceFact;
  readonly network: NetworkFact;
  readonly backends: Backends;
  readonly cluster: ClusterConfig;
}

/** One for each protocol that the Service has ports of. */
export const loadBalancers = (input: LoadBalancerInput): Northbound[] =>
  SERVICE_PROTOCOLS.filter((protocol) => input.service.ports.some((port) => port.protocol === protocol)).map(
    (protocol) => loadBalancer(input, protocol),
  );

const loadBalancer = (input: LoadBalancerInput, protocol: ServiceProtocol): Northbound => {
  const { service, network } = input;
  const owner = `${service.namespace}/${service.name}`;
  const name = clusterLoadBalancerName(network.name, owner, protocol);
  const { options, selection_fields } = affinity(service);
  return {
    rows: [
      {
        table: 'Load_Balancer',
        key: loadBalancerKey(name),
        columns: {
          name,
          protocol: PROTOCOLS[protocol],
          vips: vips(input, protocol),
          options: { ...commonOptions(input), ...options, ...flushing(protocol) },
          selection_fields,
          external_ids: { 'k8s.ovn.org/kind': 'Service', 'k8s.ovn.org/owner': owner, ...idsOf(network) },
        },
      },
    ],
    members: [
      {
        table: 'Load_Balancer_Group',
        row: loadBalancerGroupKey(loadBalancerGroupName(network.name)),
        column: 'load_balancer',
        value: rowRef(loadBalancerKey(name)),
      },
    ],
  };
};

const PROTOCOLS = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const;

/** One without endpoints is there, too: what comes to it is rejected at once. */
const vips = ({ service, backends }: LoadBalancerInput, protocol: ServiceProtocol): Record<string, string> =>
  Object.fromEntries(
    service.clusterIps.flatMap((ip) =>
      service.ports
        .filter((port) => port.protocol === protocol)
        .map((port) => [withPort(ip, port.port), backendsOf(backends, port, ipFamily(ip)).join(',')]),
    ),
  );

const commonOptions = ({ cluster }: LoadBalancerInput): Record<string, string> => ({
  reject: 'true',
  event: 'false',
  skip_snat: 'false',
  neighbor_responder: 'none',
  // As what an endpoint sees itself when it is its own client: an answer to its own address would not come back.
  hairpin_snat_ip: masqueradeAddresses(cluster, 'serviceHairpin').join(' '),
});

/**
 * Clients of UDP never begin anew: what is known of theirs is forgotten when its endpoint goes, or they would go on to talk to
 * it. Those of TCP and SCTP hear that nobody is there, and what is still under way with an endpoint that ends may finish.
 */
const flushing = (protocol: ServiceProtocol): Record<string, string> =>
  protocol === 'UDP' ? { ct_flush: 'true' } : {};

/** A day, the longest that there is, is taken for always: by a hash, which needs no memory of clients. */
const affinity = ({
  affinitySeconds,
}: ServiceFact): Required<Pick<DesiredColumns<LoadBalancerRow>, 'selection_fields'>> & {
  readonly options: Readonly<Record<string, string>>;
} => {
  if (affinitySeconds === undefined) return { options: {}, selection_fields: [] };
  if (affinitySeconds === A_DAY) return { options: {}, selection_fields: ['ip_src', 'ip_dst'] };
  return { options: { affinity_timeout: String(affinitySeconds) }, selection_fields: [] };
};

const A_DAY = 86_400;

const idsOf = ({ name, role }: NetworkFact): Record<string, string> =>
  role === 'default' ? {} : { 'k8s.ovn.org/network': name, 'k8s.ovn.org/role': role };
