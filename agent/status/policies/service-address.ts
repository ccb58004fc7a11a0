/** Addresses of Services as the other end: a packet's destination is an endpoint by the time that policies and firewalls decide about it. */

import { addressOf } from '../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { NetworkFact, ServiceFact } from '../../model/facts.ts';
import { backendsOf, type EndpointView, networkSlices } from '../../model/services/endpoints.ts';
import { type ClaimView, externalAddresses } from '../../model/services/external-addresses.ts';
import type { EndQuestion } from './pod-end.ts';
import type { PolicyReportSources } from './sources.ts';

type Sources = Pick<PolicyReportSources, 'facts' | 'node' | 'cluster'>;
type Packet = EndQuestion['packet'];

/**
 * Addresses and ports that a Service asks for and does not get are as any others: policies decide about them. So are node ports of other
 * nodes, which translate what has left this one.
 * @param isHere whether a namespace's Services are on the network
 * @returns what to ask with instead; undefined: no load balancer of the network translates the packet
 */
export const serviceProblem = (
  sources: Sources,
  ip: Ip,
  { network: name, isHere }: { readonly network: string; readonly isHere: (namespace: string) => boolean },
  packet: Packet,
): string | undefined => {
  const { facts } = sources;
  const network = facts.get('network', name);
  if (network === undefined) return undefined;
  const view = viewOf(sources);
  const node = { addresses: nodeAddresses(sources) };
  for (const key of facts.ids('service')) {
    const service = facts.get('service', key);
    if (service === undefined || !isHere(service.namespace)) continue;
    const entry = entryPoint({ service, network, view, node }, ip, packet);
    if (entry === undefined) continue;
    const { slices } = networkSlices(network, facts.get('serviceSlices', key) ?? [], view);
    const backends = [...new Set(entry.ports.flatMap((port) => backendsOf({ slices }, port, ipFamily(ip))))].sort();
    return `${entry.what} of Service ${key}, and policies decide about its endpoints: ${instead(backends)}`;
  }
  return undefined;
};

interface Asked {
  readonly service: ServiceFact;
  readonly network: NetworkFact;
  readonly view: ClaimView;
  /** Its addresses, where it has node ports. */
  readonly node: { readonly addresses: readonly Ip[] };
}

interface EntryPoint {
  readonly what: string;
  readonly ports: ServiceFact['ports'];
}

/** Of the Service, what a load balancer for this node's pods has. */
const entryPoint = ({ service, network, view, node }: Asked, ip: Ip, packet: Packet): EntryPoint | undefined => {
  if (!service.clusterIps.some((own) => ipFamily(own) === ipFamily(ip))) return undefined;
  const isProtocol = (protocol: string): boolean => packet === undefined || protocol.toLowerCase() === packet.protocol;
  const found = (what: string, ports: ServiceFact['ports']): EntryPoint | undefined =>
    ports.length === 0 ? undefined : { what, ports };
  const asked = service.ports.filter(
    ({ protocol, port }) => isProtocol(protocol) && (packet === undefined || port === packet.port),
  );
  if (service.clusterIps.includes(ip)) return found(`${ip} is the ClusterIP`, asked);
  const external = externalAddresses(service, network, view, node);
  const byAddress = asked.filter((port) => external.ips(port).includes(ip));
  if (byAddress.length > 0) return found(`${ip} is an address`, byAddress);
  // Of a node in general it is not asked: most of its ports are no Service's.
  if (packet === undefined || !node.addresses.includes(ip)) return undefined;
  const byNodePort = service.ports.filter(
    (port) => isProtocol(port.protocol) && external.nodePort(port) === packet.port,
  );
  return found(`${packet.protocol.toUpperCase()} ${packet.port} of this node is a node port`, byNodePort);
};

const nodeAddresses = ({ facts, node }: Sources): readonly Ip[] => {
  const gateway = facts.get('gateway', node);
  if (gateway?.nodePortEnable !== true) return [];
  return [...gateway.addresses, ...(facts.get('hostAddresses', node) ?? [])].map(addressOf);
};

const viewOf = ({ facts, cluster }: Sources): ClaimView & EndpointView => ({
  cluster,
  externalAddress: (id) => facts.get('externalAddress', id),
  isNodeAddress: (ip) => facts.get('nodeAddress', ip) === true,
  isLockedAddress: (ip) => facts.get('lockedAddress', ip) === true,
});

const instead = (backends: readonly string[]): string => {
  if (backends.length === 0) return 'it has none';
  const more = backends.length > MAX_SHOWN ? ` and ${backends.length - MAX_SHOWN} more` : '';
  return `ask with ${backends.slice(0, MAX_SHOWN).join(', ')}${more}`;
};

const MAX_SHOWN = 3;
