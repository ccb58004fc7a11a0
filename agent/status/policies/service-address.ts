/** Addresses of Services as the other end: a packet's destination is an endpoint by the time that policies and firewalls decide about it. */

import { DEFAULT_NETWORK_NAME } from '../../../api/names.ts';
import type { ServicePort } from '../../../api/service.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { ServiceFact, SliceFact } from '../../model/facts.ts';
import { backendsOf } from '../../model/services/endpoints.ts';
import type { EndQuestion } from './pod-end.ts';
import type { PolicyReportSources } from './sources.ts';

/**
 * @param isHere whether a namespace's Services are on the network
 * @returns what to ask with instead; undefined: no load balancer of the network translates the packet
 */
export const serviceProblem = (
  facts: PolicyReportSources['facts'],
  ip: Ip,
  { network, isHere }: { readonly network: string; readonly isHere: (namespace: string) => boolean },
  packet: EndQuestion['packet'],
): string | undefined => {
  for (const key of facts.ids('service')) {
    const service = facts.get('service', key);
    if (service === undefined || !addressesOf(service).includes(ip)) continue;
    const ports = service.ports.filter((port) => isAsked(port, packet));
    if (ports.length === 0 || !isHere(service.namespace)) continue;
    const slices = (facts.get('serviceSlices', key) ?? []).filter((slice) => isOf(slice, network));
    const backends = [...new Set(ports.flatMap((port) => backendsOf({ slices }, port, ipFamily(ip))))].sort();
    const kind = service.clusterIps.includes(ip) ? 'the ClusterIP' : 'an address';
    return `${ip} is ${kind} of Service ${key}, and policies decide about its endpoints: ${instead(backends)}`;
  }
  return undefined;
};

const addressesOf = ({ clusterIps, externalIps, loadBalancerIps }: ServiceFact): readonly Ip[] => [
  ...clusterIps,
  ...externalIps,
  ...loadBalancerIps,
];

const isAsked = ({ protocol, port }: ServicePort, packet: EndQuestion['packet']): boolean =>
  packet === undefined || (protocol.toLowerCase() === packet.protocol && port === packet.port);

const isOf = ({ madeFor, network: of }: SliceFact, network: string): boolean =>
  of === undefined ? madeFor === 'any' || network === DEFAULT_NETWORK_NAME : of === network;

const instead = (backends: readonly string[]): string => {
  if (backends.length === 0) return 'it has none';
  const more = backends.length > MAX_SHOWN ? ` and ${backends.length - MAX_SHOWN} more` : '';
  return `ask with ${backends.slice(0, MAX_SHOWN).join(', ')}${more}`;
};

const MAX_SHOWN = 3;
