/** Where the packets of a pod can be captured on its node, and where they cannot and why. Pure. */
import type { NetworkStatus, NodeStatus, PodAttachmentStatus, PodStatus } from '../../api/agent-status.ts';
import { MANAGEMENT_LINK_PREFIX } from '../../api/vrf.ts';
import { bothOf, eitherOf, genevePackets, hosts } from './filters.ts';

export interface Hop {
  readonly name: string;
  readonly interface: string;
  /** As pcap-filter(7) has it; empty: everything. */
  readonly filter: string;
  /** Which packets these are, where the interface has those of others, too. */
  readonly note?: string;
}

export interface MissedHop {
  readonly name: string;
  /** A message without a full stop. */
  readonly because: string;
}

export interface Hops {
  readonly captured: readonly Hop[];
  readonly missed: readonly MissedHop[];
}

export interface PodPlace {
  readonly pod: Pick<PodStatus, 'attachments'>;
  readonly networks: readonly NetworkStatus[];
  readonly node: NodeStatus;
  /** Tunnel keys of the networks' logical switches; undefined: OVN does not say. */
  readonly tunnelKeys: readonly number[] | undefined;
  readonly hasInterface: (name: string) => boolean;
  /** The user's. */
  readonly filter: string;
}

/** In the order of a packet that leaves the pod. */
export const hopsOf = (place: PodPlace): Hops => {
  const all = [
    ...place.pod.attachments.map((attachment) => podHop(attachment, place)),
    PATCH_PORTS,
    ...place.pod.attachments.flatMap((attachment) => managementHop(attachment, place)),
    bridgeHop(place),
    uplinkHop(place),
    tunnelHop(place),
  ];
  return {
    captured: all.filter((hop) => 'interface' in hop),
    missed: all.filter((hop) => 'because' in hop),
  };
};

type Possible = Hop | MissedHop;

const podHop = ({ interface: own, network, hostInterface }: PodAttachmentStatus, place: PodPlace): Possible => {
  const name = `pod ${own} (${network})`;
  if (hostInterface === undefined)
    return { name, because: 'the container runtime has not asked for this interface yet' };
  return ifPresent({ name, interface: hostInterface, filter: place.filter }, place);
};

/** Open vSwitch moves a packet from one bridge to the next without a device of the kernel. */
const PATCH_PORTS: MissedHop = {
  name: 'br-int',
  because:
    'its ports to other bridges are patch ports, which no packet socket can open: udnctl trace and flows show them',
};

const managementHop = (attachment: PodAttachmentStatus, place: PodPlace): readonly Possible[] => {
  const network = place.networks.find(({ name }) => name === attachment.network);
  // Secondary networks do not lead to the host.
  if (network === undefined || network.role === 'secondary') return [];
  // What a router of the network sends to the host, in local gateway mode to the outside as well, has this source.
  const masquerade = network.masquerade?.management ?? [];
  const filter = bothOf(hosts([...addressesOf([attachment]), ...masquerade]), place.filter);
  const hop = {
    name: `management port (${network.name})`,
    interface: `${MANAGEMENT_LINK_PREFIX}${network.id}`,
    filter,
  };
  return [ifPresent(masquerade.length === 0 ? hop : { ...hop, note: SHARED_ADDRESS }, place)];
};

const SHARED_ADDRESS = 'all pods of a network have its masquerade address here';

const bridgeHop = (place: PodPlace): Possible => {
  const { gateway } = place.node;
  const name = 'gateway bridge';
  if (gateway === undefined) return { name, because: NO_GATEWAY };
  const filter = bothOf(hosts([...addressesOf(place.pod.attachments), ...masqueradeOf(place)]), place.filter);
  return ifPresent({ name, interface: gateway.bridge, filter, note: SHARED_ADDRESS }, place);
};

const NO_GATEWAY = 'this node has no gateway bridge';

/** What leaves by a gateway router has the node's address: only the user knows what else to look for. */
const uplinkHop = (place: PodPlace): Possible => {
  const uplink = place.node.gateway?.uplink;
  const name = 'uplink';
  if (uplink === undefined)
    return { name, because: place.node.gateway === undefined ? NO_GATEWAY : 'it has no uplink' };
  const { filter, tunnelKeys } = place;
  const own = hosts(addressesOf(place.pod.attachments));
  const inTunnels = genevePackets(tunnelKeys, bothOf(own, filter));
  const note = filter === '' ? UPLINK_OF_POD : UPLINK_FILTERED;
  const tunnels = tunnelKeys === undefined ? '; in tunnels of all networks, as OVN does not answer' : '';
  return ifPresent(
    // Geneve comes last: what follows that word is read inside of the tunnel.
    { name, interface: uplink, filter: eitherOf(filter === '' ? own : filter, inTunnels), note: `${note}${tunnels}` },
    place,
  );
};

const UPLINK_OF_POD =
  "in tunnels by the network's VNI and the pod's addresses; what is translated to the node's address needs --filter 'host DESTINATION'";
const UPLINK_FILTERED = "also packets of others that match the filter, as the node's address stands for all of them";

/** Of the kernel's datapath: packets without their outer header. */
const tunnelHop = (place: PodPlace): Possible => {
  const filter = bothOf(hosts(addressesOf(place.pod.attachments)), place.filter);
  const hop = { name: 'tunnels', interface: TUNNEL_LINK, filter, note: SHARED_TUNNEL };
  if (place.hasInterface(TUNNEL_LINK)) return hop;
  return {
    name: hop.name,
    because: `${TUNNEL_LINK} does not exist: with the userspace datapath the uplink shows them`,
  };
};

const TUNNEL_LINK = 'genev_sys_6081';
const SHARED_TUNNEL = 'the VNI does not reach this interface: also pods of other networks that have the same addresses';

const ifPresent = (hop: Hop, { hasInterface }: PodPlace): Possible =>
  hasInterface(hop.interface) ? hop : { name: hop.name, because: `interface ${hop.interface} does not exist` };

/** Without addresses a pod of layer 2 has its MAC. */
const addressesOf = (attachments: readonly PodAttachmentStatus[]): readonly string[] => [
  ...new Set(
    attachments.flatMap(({ addresses, mac }) =>
      addresses.length > 0 ? addresses.map((address) => address.replace(/\/\d+$/, '')) : mac === undefined ? [] : [mac],
    ),
  ),
];

const masqueradeOf = ({ pod, networks }: PodPlace): readonly string[] =>
  networks
    .filter(({ name }) => pod.attachments.some(({ network }) => network === name))
    .flatMap(({ masquerade }) => masquerade?.gateway ?? []);
