/** Where a traced packet comes from and where it goes: ports, MACs and addresses. */
import { managementLinkName } from '../../agent/model/host-names.ts';
import {
  externalBridgePortName,
  managementPortName,
  routerToSwitchPortName,
  transitRouterToSwitchPortName,
} from '../../agent/model/names.ts';
import type { NetworkStatus, NodeStatus, PodAttachmentStatus, PodStatus } from '../../api/agent-status.ts';
import {
  addressOf,
  type Cidr,
  cidrContainsIp,
  networkOfInterface,
  parseCidr,
  parseInterfaceAddress,
} from '../../net/cidr.ts';
import { parseNetworkId } from '../../net/ids.ts';
import { type Family, type Ip, ipFamily, isIp, parseIp } from '../../net/ip.ts';
import { type Mac, macFromIp, parseMac } from '../../net/mac.ts';
import { CliError } from '../errors.ts';
import type { Transact } from '../flows/datapaths.ts';
import { findNetwork } from '../node/find-network.ts';
import { setOf } from '../node/wire-values.ts';
import type { Packet } from './packet.ts';
import type { BridgePort } from './port-names.ts';
import type { PortOwner } from './trace-result.ts';

export interface Knowledge {
  readonly node: NodeStatus;
  readonly networks: readonly NetworkStatus[];
  readonly pods: readonly PodStatus[];
  readonly ports: readonly BridgePort[];
  readonly northbound: Transact;
}

export interface EndpointOptions {
  /** `['pod', 'NS/NAME']`, `['host']` or `['outside']` */
  readonly from: readonly string[];
  /** An address, or `NS/NAME` of a pod of this node. */
  readonly to: string;
  readonly network: string | undefined;
  readonly family: Family | undefined;
}

export interface Ends
  extends Pick<Packet, 'bridge' | 'inPort' | 'sourceMac' | 'destinationMac' | 'source' | 'destination'> {
  /** By which it comes into OVN; absent for what begins in the gateway bridge. */
  readonly logicalPort?: string;
  /** Of the pod that sends it. */
  readonly network?: string;
}

/** @throws CliError, status 2 for what is wrong with the options */
export const endsOf = async (knowledge: Knowledge, options: EndpointOptions): Promise<Ends> => {
  const [kind, name, ...rest] = options.from;
  if (kind === 'pod' && name !== undefined && rest.length === 0) return await fromPod(knowledge, name, options);
  if (kind === 'host' && name === undefined) return await fromHost(knowledge, options);
  if (kind === 'outside' && name === undefined) return fromOutside(knowledge, options);
  throw new CliError('--from is "pod NS/NAME", "host" or "outside"', 2);
};

/** Which pod or network OVS ports belong to. */
export const portOwners = ({ node, networks, pods }: Pick<Knowledge, 'node' | 'networks' | 'pods'>) => {
  const owners = new Map<string, PortOwner>();
  for (const pod of pods) {
    for (const { hostInterface, network } of pod.attachments) {
      if (hostInterface !== undefined) owners.set(hostInterface, { pod: `${pod.namespace}/${pod.name}`, network });
    }
  }
  for (const { name, id } of networks) {
    owners.set(managementLinkName(parseNetworkId(id)), { network: name });
    const bridge = node.gateway?.bridge;
    if (bridge !== undefined) owners.set(patchPortName(bridge, name, node.name), { network: name });
  }
  return owners;
};

/** Pods by the names of their logical ports. */
export const logicalPortOwners = (pods: readonly PodStatus[]): ReadonlyMap<string, PortOwner> =>
  new Map(
    pods.flatMap(({ namespace, name, attachments }) =>
      attachments.map(({ port, network }) => [port, { pod: `${namespace}/${name}`, network }] as const),
    ),
  );

/** The gateway bridge's end of the pair that ovn-controller makes for a localnet port (ovn-controller(8)). */
export const patchPortName = (bridge: string, network: string, node: string): string =>
  `patch-${externalBridgePortName(bridge, network, node)}-to-br-int`;

const fromPod = async (knowledge: Knowledge, name: string, options: EndpointOptions): Promise<Ends> => {
  const pod = findPod(knowledge.pods, name);
  const attachment = attachmentOf(pod, knowledge, options);
  if (attachment.hostInterface === undefined || attachment.mac === undefined) {
    throw new CliError(
      `pod ${name} has no port on network ${attachment.network}: ${pod.message ?? 'it is not plugged'}`,
    );
  }
  const destination = destinationOf(knowledge, attachment.network, options);
  const own = ofFamily(attachment.addresses, ipFamily(destination), `pod ${name} on network ${attachment.network}`);
  const network = findNetwork(knowledge.networks, attachment.network);
  return {
    bridge: 'br-int',
    inPort: inPortOf(knowledge.ports, attachment.hostInterface),
    logicalPort: attachment.port,
    network: attachment.network,
    sourceMac: parseMac(attachment.mac),
    destinationMac: await nextHopMac(knowledge, network, own, destination),
    source: addressOf(parseInterfaceAddress(own)),
    destination,
  };
};

/** To what a network has here through its management port, to everything else through the gateway bridge. */
const fromHost = async (knowledge: Knowledge, options: EndpointOptions): Promise<Ends> => {
  const network = findNetwork(knowledge.networks, options.network ?? 'default');
  const destination = destinationOf(knowledge, network.name, options);
  const subnet = localSubnets(network)
    .map(parseCidr)
    .find((one) => cidrContainsIp(one, destination));
  if (subnet === undefined) return fromBridge(knowledge, destination);
  const { source, mac } = await managementEnd(knowledge, network, subnet);
  return {
    bridge: 'br-int',
    inPort: inPortOf(knowledge.ports, managementLinkName(parseNetworkId(network.id))),
    logicalPort: managementPortName(network.name, knowledge.node.name),
    sourceMac: mac,
    destinationMac: await nextHopMac(knowledge, network, `${source}/${subnet.split('/')[1]}`, destination),
    source,
    destination,
  };
};

const fromBridge = ({ node }: Knowledge, destination: Ip): Ends => {
  const gateway = gatewayOf(node);
  return {
    bridge: gateway.bridge,
    inPort: 'LOCAL',
    sourceMac: parseMac(gateway.mac),
    destinationMac: NEIGHBOUR_MAC,
    source: addressOf(parseInterfaceAddress(ofFamily(gateway.addresses, ipFamily(destination), 'the gateway bridge'))),
    destination,
  };
};

const fromOutside = (knowledge: Knowledge, options: EndpointOptions): Ends => {
  const gateway = gatewayOf(knowledge.node);
  if (gateway.uplink === undefined)
    throw new CliError(`the gateway bridge ${gateway.bridge} has no port to the outside`);
  const destination = destinationOf(knowledge, options.network ?? 'default', options);
  const neighbour = gateway.nextHops.map(parseIp).find((hop) => ipFamily(hop) === ipFamily(destination));
  return {
    bridge: gateway.bridge,
    inPort: inPortOf(knowledge.ports, gateway.uplink),
    sourceMac: NEIGHBOUR_MAC,
    destinationMac: parseMac(gateway.mac),
    source: neighbour ?? SOMEBODY[ipFamily(destination)],
    destination,
  };
};

/** Nobody has it: it is locally administered. */
const NEIGHBOUR_MAC: Mac = parseMac('02:00:00:00:00:fe');
/** For documentation: RFC 5737, RFC 3849. */
const SOMEBODY: Readonly<Record<Family, Ip>> = { 4: parseIp('192.0.2.1'), 6: parseIp('2001:db8::1') };

const gatewayOf = (node: NodeStatus): NonNullable<NodeStatus['gateway']> => {
  if (node.gateway === undefined) throw new CliError(`node ${node.name} has no gateway bridge`);
  return node.gateway;
};

const findPod = (pods: readonly PodStatus[], name: string): PodStatus => {
  const found = pods.find((pod) => `${pod.namespace}/${pod.name}` === name);
  if (found === undefined) throw new CliError(`this node has no pod ${name}: run this on the node of the pod`);
  return found;
};

/** The one that is asked for; else the primary network's, else the first. */
const attachmentOf = (pod: PodStatus, { networks }: Knowledge, { network }: EndpointOptions): PodAttachmentStatus => {
  const requested = network === undefined ? undefined : findNetwork(networks, network).name;
  const found =
    requested === undefined
      ? (pod.attachments.find(({ role }) => role === 'primary') ?? pod.attachments[0])
      : pod.attachments.find((one) => one.network === requested);
  if (found !== undefined) return found;
  const where = requested === undefined ? 'to any network' : `to network ${requested}`;
  throw new CliError(
    `pod ${pod.namespace}/${pod.name} is not attached ${where}${pod.message ? `: ${pod.message}` : ''}`,
  );
};

const destinationOf = ({ pods }: Knowledge, network: string, { to, family }: EndpointOptions): Ip => {
  if (isIp(to)) return parseIp(to);
  if (!/^[^/\s]+\/[^/\s]+$/.test(to))
    throw new CliError(`--to is an address, NS/NAME of a pod, or service/NS/NAME[:PORT], not "${to}"`, 2);
  const pod = findPod(pods, to);
  const attachment = pod.attachments.find((one) => one.network === network) ?? pod.attachments[0];
  const addresses = attachment?.addresses ?? [];
  return addressOf(parseInterfaceAddress(ofFamily(addresses, family ?? firstFamily(addresses), `pod ${to}`)));
};

const firstFamily = (addresses: readonly string[]): Family => (addresses[0]?.includes(':') ? 6 : 4);

const ofFamily = (addresses: readonly string[], family: Family, whose: string): string => {
  const found = addresses.find((address) => address.includes(':') === (family === 6));
  if (found === undefined) throw new CliError(`${whose} has no IPv${family} address`);
  return found;
};

const inPortOf = (ports: readonly BridgePort[], name: string): string => {
  const found = ports.find((port) => port.name === name);
  if (found === undefined) throw new CliError(`no port ${name} on a bridge of this node`);
  return String(found.ofport);
};

/** On layer 2 the whole subnet is on every node. */
const localSubnets = ({ topology, subnets, nodeSubnets }: NetworkStatus): readonly string[] =>
  topology === 'layer3' ? nodeSubnets : subnets;

const nextHopMac = async (
  { northbound, node }: Knowledge,
  { name, topology }: NetworkStatus,
  own: string,
  destination: Ip,
): Promise<Mac> => {
  const router = topology === 'layer3' ? routerToSwitchPortName(name, node.name) : transitRouterToSwitchPortName(name);
  const [found] = await northbound([
    { op: 'select', table: 'Logical_Router_Port', where: [['name', '==', router]], columns: ['mac', 'networks'] },
  ]);
  const { mac, networks } = found?.rows?.[0] ?? {};
  const isRouter = setOf(networks).some((one) => addressOf(parseInterfaceAddress(one)) === destination);
  if (!isRouter && cidrContainsIp(networkOfInterface(parseInterfaceAddress(own)), destination)) {
    return (await macOfAddress(northbound, name, destination)) ?? derivedMac(destination);
  }
  if (typeof mac !== 'string')
    throw new CliError(`network ${name} has no router on this node: ${router} does not exist`);
  return parseMac(mac);
};

const macOfAddress = async (northbound: Transact, network: string, address: Ip): Promise<Mac | undefined> => {
  const [found] = await northbound([
    { op: 'select', table: 'Logical_Switch_Port', where: [], columns: ['addresses', 'external_ids'] },
  ]);
  for (const row of found?.rows ?? []) {
    const isOfNetwork = JSON.stringify(row['external_ids']).includes(`["k8s.ovn.org/network","${network}"]`);
    if (!isOfNetwork && network !== 'default') continue;
    for (const entry of setOf(row['addresses'])) {
      const [mac, ...addresses] = entry.split(' ');
      if (mac !== undefined && addresses.includes(address)) return parseMac(mac);
    }
  }
  return undefined;
};

/** As its row says: which address it has follows from the network's gateway and infrastructure subnets, and not from the subnet. */
const managementEnd = async (
  { northbound, node }: Knowledge,
  { name }: NetworkStatus,
  subnet: Cidr,
): Promise<{ readonly source: Ip; readonly mac: Mac }> => {
  const port = managementPortName(name, node.name);
  const [found] = await northbound([
    { op: 'select', table: 'Logical_Switch_Port', where: [['name', '==', port]], columns: ['addresses'] },
  ]);
  const [mac, ...addresses] = setOf(found?.rows?.[0]?.['addresses'])[0]?.split(' ') ?? [];
  const source = addresses
    .filter(isIp)
    .map(parseIp)
    .find((one) => cidrContainsIp(subnet, one));
  if (mac === undefined || source === undefined) {
    throw new CliError(`network ${name} has no management port in ${subnet} on this node: ${port} does not exist`);
  }
  return { source, mac: parseMac(mac) };
};

/** Addresses that pods are given have MACs that follow from them; IPv6 ones have their pod's IPv4 one where it has one. */
const derivedMac = (address: Ip): Mac => macFromIp(address);
