/** Whether somebody heard what nobody may hear. By default nobody may: what is allowed is said here. Pure. */
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { HostileCase } from './cases.ts';
import type { Claim } from './dimensions/claims.ts';
import { isLocked, isPacketSocket } from './dimensions/sources.ts';
import { dissect, type Layer } from './frames/dissect.ts';
import { GENEVE_PORT } from './frames/tunnels.ts';
import type { Sighting } from './wire/listener.ts';
import { DEFAULT_TENANT, type Foothold, type KnownHost, networkOf, type World } from './world.ts';

/** What is wrong with it; undefined: nothing. */
export const complaintAbout = (world: World, one: HostileCase, sighting: Sighting): string | undefined => {
  const { place, device, isOutgoing } = sighting;
  if (place === one.attacker.place && place.includes('/')) return undefined;
  if (place.includes('/')) return isOutgoing ? undefined : heardByPod(world, one, sighting);
  if (place === 'outside') return isOutgoing ? undefined : onTheWire(world, one, sighting);
  if (device === 'eth0') return isOutgoing ? onTheWire(world, one, sighting) : undefined;
  return heardByHost(world, one, sighting);
};

/** Whose pods hear an attacker that is honest. */
const audienceOf = ({ attacker, cell: { entry }, target }: HostileCase): readonly string[] => {
  const { name, tenant } = attacker;
  const isOnNode = /^(process|host-network)/.test(name);
  // As with kube-proxy, a node serves the default network's ClusterIPs to whoever routes them to it.
  const isServed = name === 'host outside' && entry.name === 'ClusterIP';
  const isPublic =
    (entry.isPublic === true || isNodeByMasquerade(attacker, target)) && !isLocked(name) && !isPacketSocket(name);
  const served = isPublic && target.tenant !== undefined ? [target.tenant] : [];
  return [...served, ...(tenant === undefined ? [] : [tenant]), ...(isOnNode || isServed ? [DEFAULT_TENANT] : [])];
};

/**
 * Load balancers of the default network have this address for endpoints that are the node itself, and the gateway bridge makes it the
 * node's: to a pod there it is another name of its node (docs/security.md, "What is not kept apart").
 */
const isNodeByMasquerade = ({ name, tenant }: HostileCase['attacker'], { ip }: HostileCase['target']): boolean =>
  /^pod /.test(name) && tenant === DEFAULT_TENANT && HOST_MASQUERADE.has(ip);

const HOST_MASQUERADE: ReadonlySet<string> = new Set(['169.254.0.2', 'fd69::2']);

const isOutside = ({ attacker: { name } }: HostileCase): boolean => name === 'host outside';

const heardByPod = (world: World, one: HostileCase, { place, device, bytes }: Sighting): string | undefined => {
  const pod = world.footholds.find((foothold) => foothold.pod === place);
  const isTheirs = pod !== undefined && audienceOf(one).includes(pod.tenant) && device === pod.primary.device;
  if (isAnswer(world, one, pod, device)) return undefined;
  const isByPrimary = pod !== undefined && device === pod.primary.device;
  if (isByPrimary && hasPinged(pod) && isEchoed(world, one, dissect(bytes)[0])) return undefined;
  if (!isTheirs) return `a pod of ${pod?.tenant} heard it`;
  const isHeardAs = one.isHimself || (isOutside(one) && !NOWHERE.has(one.cell.claim));
  return isHeardAs && one.cell.encapsulation === 'none' ? undefined : 'a pod heard it, from somebody else';
};

/** Nobody outside is this, and a node means somebody by it. Whatever else they say there, they may ask what is for all. */
const NOWHERE: ReadonlySet<Claim> = new Set(['a masquerade address']);

/**
 * To conntrack, what a host sends to a node by a protocol without ports is the answer to whom of the node's pods has sent it that protocol: as
 * to ask one server outside, it takes both (docs/security.md, "What is not kept apart"). Only those that attack have done so.
 */
const isAnswer = (world: World, one: HostileCase, pod: Foothold | undefined, device: string): boolean =>
  mayAnswer(one) && pod !== undefined && device === pod.primary.device && hasAsked(world, one, pod);

/** Attacked from the node whose address the case sends to. */
const hasAsked = (world: World, { target }: HostileCase, { pod, node }: Foothold): boolean =>
  /\/[ac]$/.test(pod) &&
  world.nodes.some(({ name, addresses }) => name === node && Object.values(addresses).includes(target.ip));

/** In local gateway mode the host takes such an answer to the pod's network, and to the pod or to the router that has translated it. */
const isAnswerForwarded = (world: World, one: HostileCase, by: string, outer: Layer | undefined): boolean => {
  if (outer?.ip === undefined) return false;
  const { dst } = outer.ip;
  const pods = world.footholds.filter(
    (pod) => pod.tenant === by && (isRouterOf(world, by, dst) || Object.values(pod.primary.addresses).includes(dst)),
  );
  if (isEchoed(world, one, outer)) return pods.some(hasPinged);
  return mayAnswer(one) && pods.some((pod) => hasAsked(world, one, pod));
};

/** As which it translates what goes to the host. */
const isRouterOf = (world: World, tenant: string, ip: Ip): boolean =>
  networkOf(world, tenant).masquerade[ipFamily(ip)].includes(ip);

/**
 * Whoever is outside has pinged a host as one of the nodes, and the host answers the node: with the identifier by which the node's pods
 * have pinged that host, it is the answer to them. The host, which is himself or another node, could send it at once.
 */
const isEchoed = (world: World, one: HostileCase, outer: Layer | undefined): boolean => {
  const { outside, nodes } = world;
  const { protocol, claim } = one.cell;
  const node = nodes[['the node', 'the other node'].indexOf(claim)];
  const ip = outer?.ip;
  if (!isOutside(one) || protocol.name !== 'icmp echo' || node === undefined) return false;
  if (ip === undefined || !ICMP.has(ip.protocol)) return false;
  const hosts = [outside, ...nodes].filter((host) => host !== node);
  return hosts.some(({ addresses }) => Object.values(addresses).includes(ip.src));
};

/** Those that attack. */
const hasPinged = ({ pod }: Foothold): boolean => /\/[ac]$/.test(pod);

const mayAnswer = ({ attacker, cell: { protocol, encapsulation }, isHimself }: HostileCase): boolean =>
  (/^(gre|esp)$/.test(protocol.name) || /^(gre|ip in ip)$/.test(encapsulation)) &&
  isHimself &&
  !isLocked(attacker.name) &&
  !isPacketSocket(attacker.name);

/**
 * The pod that has got such an answer says that it does not know the protocol, and repeats what it got (RFC 792, RFC 4443 §3.4). The
 * router that has translated what it sent translates that, too.
 */
const isErrorAboutAnswer = (world: World, one: HostileCase, by: string, outer: Layer | undefined): boolean =>
  mayAnswer(one) &&
  outer?.ip !== undefined &&
  ICMP.has(outer.ip.protocol) &&
  (podAddresses(world).includes(outer.ip.src) || isRouterOf(world, by, outer.ip.src));

const ICMP: ReadonlySet<number> = new Set([1, 58]);

/** It repeats what was sent (RFC 792, RFC 4443 §2.4), so that the marker is in it. */
const isErrorTo = ({ addresses }: KnownHost, outer: Layer | undefined): boolean =>
  outer?.ip !== undefined && ICMP.has(outer.ip.protocol) && Object.values(addresses).some((ip) => ip === outer.ip?.dst);

/** A router sends some of its messages by its link-local address: RFC 4861 §4.5. */
const nodeAddresses = (world: World): readonly string[] =>
  world.nodes.flatMap(({ addresses, linkLocal }) => [...Object.values(addresses), linkLocal]);

/** Between nodes everything is in Geneve, from address to address of nodes; all else leaves as the node itself. */
const onTheWire = (world: World, one: HostileCase, { place, bytes }: Sighting): string | undefined => {
  const layers = dissect(bytes);
  const [outer] = layers;
  if (!isOutside(one) && isForgedTunnel(world, one, layers)) return 'it left for a tunnel endpoint';
  // A host outside is on the wire anyway, and nodes forward and answer.
  if (isTunnel(layers) || one.attacker.means === 'datagrams' || isOutside(one)) return undefined;
  if (outer?.ip === undefined) return `it left as ${describe(outer)}`;
  if (!nodeAddresses(world).includes(outer.ip.src)) return `it left untranslated: ${describe(outer)}`;
  if (isLocked(one.attacker.name)) return 'it left, from a locked interface';
  if (!one.isHimself) return 'it left, from somebody else';
  const isNodes = place === 'outside' || world.nodes.some(({ mac }) => mac === outer.from);
  return isNodes ? undefined : `it left from the MAC address ${outer.from}`;
};

const isTunnel = (layers: readonly Layer[]): boolean =>
  layers[0]?.ip?.protocol === 17 && layers[0].ip.port === GENEVE_PORT;

/** A tunnel of the node's own has the attacker's frame in it, and so one layer more than what he has sent. */
const isForgedTunnel = (world: World, { cell: { encapsulation } }: HostileCase, layers: readonly Layer[]): boolean => {
  if (!encapsulation.startsWith('geneve')) return false;
  const isFragment = layers[0]?.ip?.protocol === 17 && layers[0].ip.port === undefined;
  const isToNode = nodeAddresses(world).includes(layers[0]?.ip?.dst ?? '');
  return (isTunnel(layers) && layers.length < 3) || (encapsulation === 'geneve in fragments' && isFragment && isToNode);
};

const heardByHost = (world: World, one: HostileCase, sighting: Sighting): string | undefined => {
  const { place, device, isOutgoing, bytes } = sighting;
  const [outer] = dissect(bytes);
  if (one.attacker.means === 'datagrams') return undefined;
  if (device === 'br-ex') return isOutgoing ? fromHost(world, one, outer) : atUplink(world, one, outer);
  const network = world.networks.find(({ managementPort }) => managementPort.device === device);
  if (network === undefined) return undefined;
  if (isKubeletsNeighbour(one, network.tenant, isOutgoing)) return undefined;
  const isAsked = isAskedFromOutside(one, network.tenant);
  if (isOutgoing && (isAsked || isAnswerForwarded(world, one, network.tenant, outer))) return undefined;
  if (isAskedAsNode(world, one, { place, by: network.tenant, outer, isOutgoing })) return undefined;
  if (
    !isOutgoing &&
    (isErrorAboutAnswer(world, one, network.tenant, outer) || (isAsked && isErrorTo(world.outside, outer)))
  ) {
    return undefined;
  }
  if (network.tenant !== one.attacker.tenant) {
    return `${isOutgoing ? 'the host sent it on' : 'it came'} by ${device}: ${describe(outer)}`;
  }
  return isOutgoing || one.isHimself ? undefined : `it came by ${device}, from somebody else`;
};

/**
 * In local gateway mode the host takes node ports to their network, whoever says to ask, and without VRFs to the default one, where nobody
 * has a tenant's. Who has asked for a port of its own gets an answer, even if that says to be a pod.
 */
const isAskedFromOutside = (one: HostileCase, by: string): boolean => {
  const { entry } = one.cell;
  const isTaken = entry.isPublic === true && takesNodePorts(one.target.tenant).includes(by);
  return isOutside(one) && (isTaken || (entry.name === 'node' && by === DEFAULT_TENANT));
};

/**
 * What a pod asks of a node port of another node leaves as its own node, and is there what anybody outside may ask: in local gateway
 * mode, with `externalTrafficPolicy: Local`, the host takes it to the network of the Service by this address (docs/datapath.md). An error about
 * it, which repeats what was asked, comes back by the same way.
 */
const isAskedAsNode = (
  world: World,
  { attacker, cell: { entry, encapsulation }, target, isHimself }: HostileCase,
  {
    place,
    by,
    outer,
    isOutgoing,
  }: { readonly place: string; readonly by: string; readonly outer: Layer | undefined; readonly isOutgoing: boolean },
): boolean => {
  const home = world.footholds.find(({ pod }) => pod === attacker.place)?.node;
  const node = world.nodes.find(({ name }) => name === home);
  if (outer?.ip === undefined || node === undefined || place === home) return false;
  const { src, dst, protocol } = outer.ip;
  const [asker, asked] = isOutgoing ? [src, dst] : [dst, src];
  const isHonest = isHimself && encapsulation === 'none' && !isLocked(attacker.name);
  const isTaken = entry.isPublic === true && takesNodePorts(target.tenant).includes(by) && LOCAL_ENDPOINTS.has(asked);
  const isOfNode = Object.values(node.addresses).some((ip) => ip === asker);
  return isHonest && isTaken && isOfNode && (isOutgoing || ICMP.has(protocol));
};

/** Of a Service of this tenant, the networks that the host may take what is asked to: without VRFs the default one, where nobody has it. */
const takesNodePorts = (tenant: string | undefined): readonly (string | undefined)[] => [DEFAULT_TENANT, tenant];

const LOCAL_ENDPOINTS: ReadonlySet<string> = new Set(['169.254.0.3', 'fd69::3']);

/**
 * The host looks now and then whether a pod that the kubelet has asked is still there (RFC 4861 §7.3): the pod answers. Of routers
 * the host takes no advice there, and gives none: `accept_ra` is 0.
 */
const isKubeletsNeighbour = (
  { cell: { protocol }, attacker, isHimself }: HostileCase,
  tenant: string,
  isOutgoing: boolean,
) =>
  isLocked(attacker.name) &&
  tenant === DEFAULT_TENANT &&
  (protocol.announcesNeighbours === true || /^router /.test(protocol.name)) &&
  isHimself &&
  !isOutgoing;

const fromHost = (world: World, one: HostileCase, outer: Layer | undefined): string | undefined => {
  const src = outer?.ip?.src;
  // Who is outside has said so himself, and gets it back.
  if (isOutside(one) || isForService(world, one, outer?.ip?.dst)) return undefined;
  return src !== undefined && podAddresses(world).includes(src)
    ? `the host sent it on untranslated: ${describe(outer)}`
    : undefined;
};

/** Node ports of its own node: the gateway bridge takes them to the network of the Service. What it lets out is heard on the wire. */
const isForService = ({ services }: World, { attacker: { tenant } }: HostileCase, dst: Ip | undefined): boolean =>
  tenant === DEFAULT_TENANT && services.some(({ addresses }) => Object.values(addresses).some((ip) => ip === dst));

const atUplink = (world: World, one: HostileCase, outer: Layer | undefined): string | undefined => {
  const { name, tenant } = one.attacker;
  if (one.cell.encapsulation.startsWith('geneve') && outer?.ip?.port === GENEVE_PORT && !isOutside(one)) {
    return 'it came to a tunnel endpoint';
  }
  if (isOutside(one)) {
    const isMasked = one.cell.claim === 'a masquerade address' && outer?.ip !== undefined;
    return isMasked ? 'the host got it, from a masquerade address' : undefined;
  }
  if (isLocked(name)) return 'the host got it, from a locked interface';
  const src = outer?.ip?.src;
  if (src === undefined || tenant === undefined) return `the host got it as ${describe(outer)}`;
  const mine: readonly string[] = networkOf(world, tenant).masquerade[ipFamily(src)];
  if (mine.includes(src) || !isInside(world, src)) return undefined;
  return `the host got it untranslated: ${describe(outer)}`;
};

/** An address that means something on a node or in a network only. What answers from elsewhere repeats what it was sent. */
const isInside = (world: World, ip: Ip): boolean =>
  podAddresses(world).includes(ip) ||
  world.networks.some(({ managementPort }) => Object.values(managementPort.addresses).includes(ip)) ||
  world.networks.some(({ masquerade }) => masquerade[ipFamily(ip)].includes(ip));

const podAddresses = (world: World): readonly string[] => [
  ...world.footholds
    .flatMap(({ primary, locked }) => [primary, locked])
    .flatMap((at) => Object.values(at?.addresses ?? {})),
];

const describe = (layer: Layer | undefined): string => {
  if (layer === undefined) return 'a frame that is cut off';
  const { ip, type, from, to } = layer;
  return ip === undefined
    ? `${from} → ${to}, type 0x${type.toString(16)}`
    : `${ip.src} → ${ip.dst}, protocol ${ip.protocol}`;
};
