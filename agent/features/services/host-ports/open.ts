/**
 * Which `hostPort`s of a pod are open on this node, at which addresses, and why others are not. A pod gets no port that somebody else has:
 * reserved ones, node ports and addresses of Services, those of older pods. docs/services.md, "Ports of pods".
 */
import { type HostPort, hostPortText, isLoopback, isUnspecified, MOST_HOST_PORTS } from '../../../../api/host-ports.ts';
import { DEFAULT_NETWORK_NAME, parseNadKey } from '../../../../api/names.ts';
import { reservedPortId } from '../../../../api/reserved-host-ports.ts';
import type { ServiceProtocol } from '../../../../api/service.ts';
import { addressOf } from '../../../../net/cidr.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import {
  externalAddressId,
  hostPortId,
  nodePortId,
  type PodFact,
  podKey,
  type RoutedNetworkFact,
} from '../../../model/facts.ts';
import { externalAddresses, GENEVE_PORT } from '../../../model/services/external-addresses.ts';
import type { View } from '../../../model/view.ts';
import { routedNetwork } from '../../shared/local-network.ts';
import { localNode } from '../local-node.ts';
import { serviceNetwork } from '../published.ts';

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
  const { hostPorts = [] } = pod;
  if (hostPorts.length === 0 || pod.hostNetwork || pod.finished) return undefined;
  const place = placeOf(pod, view);
  if (place === undefined) return undefined;
  const results = hostPorts.map((one, index) => openPort(one, hostPorts.slice(0, index), place, view));
  return {
    network: place.network,
    open: results.flatMap(({ open }) => open),
    refusals: [...new Set(results.flatMap(({ refusals }) => refusals))],
  };
};

/** Where the ports of a pod lead to, and the node that they are of. */
interface Place {
  readonly pod: PodFact;
  readonly network: RoutedNetworkFact;
  readonly targets: readonly Ip[];
  readonly addresses: readonly Ip[];
}

const placeOf = (pod: PodFact, view: View): Place | undefined => {
  const primary = primaryOf(pod, view);
  const network = primary && routedNetwork(primary.network, view)?.network;
  if (primary === undefined || network === undefined || view.gateway(view.node) === undefined) return undefined;
  return { pod, network, targets: primary.targets, addresses: localNode(network, view).addresses };
};

/** The one of its interfaces by which others reach it; none of a virtual machine that runs elsewhere still. */
const primaryOf = (
  { networks, standby }: PodFact,
  view: View,
): { readonly network: string; readonly targets: readonly Ip[] } | undefined => {
  for (const [key, { role, ipAddresses }] of networks) {
    if (role !== 'primary' || standby?.has(key)) continue;
    const nad = parseNadKey(key);
    const network = key === DEFAULT_NETWORK_NAME ? key : nad && view.networkOfNad(`${nad.namespace}/${nad.name}`)?.name;
    if (network !== undefined) return { network, targets: ipAddresses.map(addressOf) };
  }
  return undefined;
};

interface Opened {
  readonly open: readonly OpenHostPort[];
  readonly refusals: readonly string[];
}

/** @param earlier of the same pod */
const openPort = (asked: HostPort, earlier: readonly HostPort[], place: Place, view: View): Opened => {
  const refused =
    (earlier.length >= MOST_HOST_PORTS ? `a pod has at most ${MOST_HOST_PORTS}` : undefined) ??
    impossible(asked, place, view) ??
    reserved(asked, view) ??
    rival(asked, earlier, place, view);
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

/** Linux sends nothing from `::1` to another link, whatever its settings. */
const askedAddresses = (
  { hostIp }: HostPort,
  family: Family,
  { addresses }: Pick<Place, 'addresses'>,
): Pick<OpenHostPort, 'addresses' | 'loopbacks'> => {
  if (hostIp === undefined || hostIp === UNSPECIFIED[family])
    return {
      addresses: addresses.filter((ip) => ipFamily(ip) === family),
      loopbacks: family === 4 ? [LOCALHOST] : [],
    };
  if (ipFamily(hostIp) !== family) return { addresses: [], loopbacks: [] };
  if (isLoopback(hostIp)) return { addresses: [], loopbacks: family === 4 ? [hostIp] : [] };
  return { addresses: addresses.filter((ip) => ip === hostIp), loopbacks: [] };
};

const LOCALHOST = '127.0.0.1' as Ip;
const UNSPECIFIED: Readonly<Record<Family, string>> = { 4: '0.0.0.0', 6: '::' };

const impossible = ({ hostIp }: HostPort, { targets, addresses }: Place, view: View): string | undefined => {
  if (view.gateway(view.node)?.nodePortEnable !== true) return 'node ports are off there';
  if (hostIp === undefined) return undefined;
  const family = ipFamily(hostIp);
  if (targets.every((ip) => ipFamily(ip) !== family)) return `the pod has no IPv${family} address`;
  if (isLoopback(hostIp)) return family === 6 ? 'Linux forwards nothing from ::1' : undefined;
  return isUnspecified(hostIp) || addresses.includes(hostIp) ? undefined : 'it is no address of the node';
};

const reserved = ({ protocol, hostPort }: HostPort, view: View): string | undefined => {
  if (protocol === 'UDP' && hostPort === GENEVE_PORT) return 'the tunnels between nodes have it';
  return view.reservedHostPorts?.includes(reservedPortId(protocol, hostPort)) ? 'it is reserved' : undefined;
};

/** Node ports are on all addresses of the node but loopback ones. What others call their pods is nobody's business. */
const rival = (asked: HostPort, earlier: readonly HostPort[], place: Place, view: View): string | undefined => {
  const { protocol, hostPort, hostIp } = asked;
  const isOnNode = hostIp === undefined || !isLoopback(hostIp);
  if (isOnNode && view.externalAddress(nodePortId(protocol, hostPort)) !== undefined)
    return 'it is the node port of a Service';
  const same = (other: HostPort): boolean => other.protocol === protocol && other.hostPort === hostPort;
  if (earlier.some((other) => same(other) && collide(asked, other, true))) return 'the pod asks for it twice';
  const claims = view.hostPortClaims(hostPortId(protocol, hostPort));
  const own = podKey(place.pod);
  const older = claims.slice(
    0,
    claims.findIndex(({ pod }) => pod === own),
  );
  const found = older.find((claim) => collide(asked, claim, isOn(claim.pod, place.network.name, view)));
  if (found === undefined) return undefined;
  return found.pod.startsWith(`${place.pod.namespace}/`)
    ? `the older pod ${found.pod} has it`
    : 'an older pod of another namespace has it';
};

const isOn = (key: string, network: string, view: View): boolean => {
  const pod = view.pod(key);
  return pod !== undefined && primaryOf(pod, view)?.network === network;
};

type Asked = Pick<HostPort, 'hostIp'>;

/**
 * The scheduler's rule (`HostPortInfo.CheckConflict`), by family. And two different addresses of the node on one network: what the host
 * sends to either of them goes to one address of its load balancers.
 */
const collide = ({ hostIp: a }: Asked, { hostIp: b }: Asked, isSameNetwork: boolean): boolean => {
  if (a === undefined || b === undefined) return true;
  if (ipFamily(a) !== ipFamily(b)) return false;
  if (isUnspecified(a) || isUnspecified(b) || a === b) return true;
  return isSameNetwork && isLoopback(a) === isLoopback(b);
};

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
