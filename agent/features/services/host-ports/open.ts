/**
 * Which `hostPort`s of a pod are open on this node, at which addresses, and why others are not. A pod gets no port that somebody else has:
 * reserved ones, node ports and addresses of Services, those of older pods. docs/services.md, "Ports of pods".
 */
import { type HostPort, hostPortText } from '../../../../api/host-ports.ts';
import type { ServiceProtocol } from '../../../../api/service.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import { externalAddressId, type PodFact, type RoutedNetworkFact } from '../../../model/facts.ts';
import { externalAddresses } from '../../../model/services/external-addresses.ts';
import type { View } from '../../../model/view.ts';
import { serviceNetwork } from '../published.ts';
import { askedAddresses, impossible, type Place, placeOf } from './place.ts';
import { rival } from './rivals.ts';

/** A port of the node in one family. */
export interface OpenHostPort {
  readonly protocol: ServiceProtocol;
  readonly port: number;
  readonly family: Family;
  /** Of the node, which others may use. */
  readonly addresses: readonly Ip[];
  /** Which only processes of the node use. */
  readonly loopbacks: readonly Ip[];
  /** The pod, on its primary network. */
  readonly target: Ip;
  readonly targetPort: number;
}

export interface HostPorts {
  readonly network: RoutedNetworkFact;
  readonly open: readonly OpenHostPort[];
  /** Without full stops. */
  readonly refusals: readonly string[];
}

/** Undefined while nothing can be said: of pods without, without addresses yet, or on a node whose gateway is unknown. */
export const hostPortsOf = (pod: PodFact, view: View): HostPorts | undefined => {
  const { hostPorts = [], refusedHostPorts = [] } = pod;
  if (hostPorts.length + refusedHostPorts.length === 0 || pod.hostNetwork || pod.finished) return undefined;
  const place = placeOf(pod, view);
  if (place === undefined) return undefined;
  const results = hostPorts.map((one) => openPort(one, place, view));
  return {
    network: place.network,
    open: results.flatMap(({ open }) => open),
    refusals: [
      ...new Set(results.flatMap(({ refusals }) => refusals)),
      ...refusedHostPorts.map((why) => `not every port of node ${view.node} is open: ${why}`),
    ],
  };
};

interface Opened {
  readonly open: readonly OpenHostPort[];
  readonly refusals: readonly string[];
}

const openPort = (asked: HostPort, place: Place, view: View): Opened => {
  const refused = impossible(asked, place, view) ?? rival(asked, place, view);
  if (refused !== undefined) return { open: [], refusals: [refusalOf(asked, refused, view)] };
  const taken = takenAddresses(asked, place, view);
  const open = FAMILIES.flatMap((family): OpenHostPort[] => {
    const target = place.targets.find((ip) => ipFamily(ip) === family);
    const { addresses, loopbacks } = askedAddresses(asked, family, place);
    const free = addresses.filter((ip) => !taken.includes(ip));
    if (target === undefined || free.length + loopbacks.length === 0) return [];
    const { protocol, hostPort: port, containerPort: targetPort } = asked;
    return [{ protocol, port, family, addresses: free, loopbacks, target, targetPort }];
  });
  const why = `a Service has it at ${taken.join(', ')}`;
  return { open, refusals: taken.length === 0 ? [] : [refusalOf(asked, why, view)] };
};

const refusalOf = (asked: HostPort, why: string, { node }: View): string =>
  `${hostPortText(asked)} of node ${node} is not open: ${why}`;

/** By `externalIPs`, or as those of its load balancer: of nodes, only Services that may have them are reached there. */
const takenAddresses = (asked: HostPort, place: Place, view: View): readonly Ip[] => {
  const { protocol, hostPort: port } = asked;
  const families = FAMILIES.filter((family) => place.targets.some((ip) => ipFamily(ip) === family));
  const all = families.flatMap((family) => askedAddresses(asked, family, place).addresses);
  return all.filter((ip) => {
    const owner = view.externalAddress(externalAddressId(ip, { protocol, port }));
    const service = owner === undefined ? undefined : view.service(owner);
    const network = service && view.network(serviceNetwork(service, view) ?? '');
    if (service === undefined || network === undefined) return false;
    const { ips } = externalAddresses(service, network, view, place);
    return service.ports.some((one) => one.protocol === protocol && one.port === port && ips(one).includes(ip));
  });
};
