/** What a pod's `hostPort`s lead to, and which of them can be open on this node at all: others that ask for them are in rivals.ts. */
import { type HostPort, isLoopback, isUnspecified } from '../../../../api/host-ports.ts';
import { DEFAULT_NETWORK_NAME, parseNadKey } from '../../../../api/names.ts';
import { addressOf } from '../../../../net/cidr.ts';
import { type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import { nodePortId, type PodFact, type RoutedNetworkFact } from '../../../model/facts.ts';
import type { View } from '../../../model/view.ts';
import { routedNetwork } from '../../shared/local-network.ts';
import { localNode } from '../local-node.ts';
import { reserved } from './reserved.ts';

/** Where the ports of a pod lead to, and the addresses of the node that they are at. */
export interface Place {
  readonly pod: PodFact;
  readonly network: RoutedNetworkFact;
  readonly targets: readonly Ip[];
  readonly addresses: readonly Ip[];
}

export const placeOf = (pod: PodFact, view: View): Place | undefined => {
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

interface AskedAddresses {
  readonly addresses: readonly Ip[];
  readonly loopbacks: readonly Ip[];
}

/** Linux sends nothing from `::1` to another link, whatever its settings. */
export const askedAddresses = (
  { hostIp }: HostPort,
  family: Family,
  { addresses }: Pick<Place, 'addresses'>,
): AskedAddresses => {
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

/** Why it cannot be open here, whatever other pods ask for. */
export const impossible = (asked: HostPort, { targets, addresses }: Place, view: View): string | undefined => {
  const { hostIp } = asked;
  if (view.gateway(view.node)?.nodePortEnable !== true) return 'node ports are off there';
  const taken = reserved(asked, addresses, view) ?? nodePort(asked, view);
  if (taken !== undefined || hostIp === undefined) return taken;
  const family = ipFamily(hostIp);
  if (targets.every((ip) => ipFamily(ip) !== family)) return `the pod has no IPv${family} address`;
  if (isLoopback(hostIp)) return family === 6 ? 'Linux forwards nothing from ::1' : undefined;
  return isUnspecified(hostIp) || addresses.includes(hostIp) ? undefined : 'it is no address of the node';
};

/** Node ports are on all addresses of the node but loopback ones. */
const nodePort = ({ protocol, hostPort, hostIp }: HostPort, view: View): string | undefined => {
  if (hostIp !== undefined && isLoopback(hostIp)) return undefined;
  return view.externalAddress(nodePortId(protocol, hostPort)) === undefined
    ? undefined
    : 'it is the node port of a Service';
};
