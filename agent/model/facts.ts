/**
 * What the agent knows about the cluster, cut so that one thing that changes is one fact. A fragment is rendered again
 * only when a fact changes that it has read, so a fact must not hold more than its readers need: the subnets of a node
 * are one fact per network, not one per node. Over 300 lines: one list of all that is known, with what each means.
 */
import type { IgnoredRequest } from '../../api/annotations/ignored-requests.ts';
import type { Attachment as SelectedNetwork } from '../../api/annotations/network-selection.ts';
import type { OpenPort } from '../../api/annotations/open-default-ports.ts';
import type { PodNetworks } from '../../api/annotations/pod-networks.ts';
import type { Bandwidth } from '../../api/annotations/selection-element.ts';
import type { ForeignConf } from '../../api/foreign-conf.ts';
import type { HostPort } from '../../api/host-ports.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import type { Network } from '../../api/network.ts';
import type { ServicePort, ServiceProtocol, TrafficPolicy } from '../../api/service.ts';
import type { Cidr, InterfaceAddress } from '../../net/cidr.ts';
import type { DatapathKey, NetworkId, NodeId } from '../../net/ids.ts';
import { type Family, type Ip, ipFamily } from '../../net/ip.ts';
import type { Mac } from '../../net/mac.ts';
import type {
  AdminRuleFact,
  DenyGroupFact,
  DomainSetFact,
  PeerSetFact,
  PodPolicyFact,
  PolicyPeerFact,
  PolicyRuleFact,
  SubjectSetFact,
} from './policies/facts.ts';

/** A node, as far as other nodes need to know it. */
export interface NodeFact {
  readonly name: string;
  /** Absent until the cluster manager has given it. */
  readonly id: NodeId | undefined;
  /** Absent until the node's agent has published it. */
  readonly chassisId: string | undefined;
  readonly encapIps: readonly Ip[];
  /** On the transit switch of every layer-3 network, IPv4 first. */
  readonly transitAddresses: readonly InterfaceAddress[];
  /** Its datapath can compare packets with an MTU (`check_pkt_larger`). */
  readonly gatewayMtuSupport: boolean;
  /** `topology.kubernetes.io/zone`; absent where nobody has given it one. */
  readonly zone?: string | undefined;
}

/** How a node's networks get out of it: its gateway bridge, as `k8s.ovn.org/l3-gateway-config` has it. */
export interface GatewayFact {
  readonly mode: 'shared' | 'local';
  /** Name of the bridge. */
  readonly bridge: string;
  /** `<bridge>_<node>` */
  readonly interfaceId: string;
  /** Of the bridge, and of the external port of every gateway router. */
  readonly mac: Mac;
  /** Of the bridge, IPv4 first; at least one. */
  readonly addresses: readonly InterfaceAddress[];
  readonly nextHops: readonly Ip[];
  readonly nodePortEnable: boolean;
  /** 0: untagged. */
  readonly vlanId: number;
  /** The bridge's port to the outside; absent for a bridge without one. Only known of the local node. */
  readonly uplink?: string | undefined;
  /** Of the bridge, those that are not made of its MAC. Only known of the local node. */
  readonly linkLocals?: readonly Ip[] | undefined;
  /** No flow can make an advertisement of a neighbour solicitation: `canAdvertise`. Only known of the local node. */
  readonly cannotAdvertise?: true | undefined;
}

/** A network that has an id. The default network has one from the start. */
export interface NetworkFact extends Network {
  readonly id: NetworkId;
  /** Keys of a primary layer-2 network's switch and transit router. */
  readonly tunnelKeys: readonly DatapathKey[];
}

/** The default network, or a primary one: it has gateways, services and ports of the host, which secondary ones never have. */
export interface RoutedNetworkFact extends NetworkFact {
  readonly role: Exclude<NetworkFact['role'], 'secondary'>;
}

export const isRouted = (network: NetworkFact): network is RoutedNetworkFact => network.role !== 'secondary';

export interface NamespaceFact {
  readonly name: string;
  /** It has the label that says: the pods here use the namespace's primary network. */
  readonly wantsPrimaryNetwork: boolean;
}

/** The NAD of the primary network of a namespace. */
export interface PrimaryNadFact {
  readonly nad: string;
  readonly network: string;
}

export interface PodFact {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** What the container runtime calls it: of a static pod not the UID of its mirror in the API. */
  readonly runtimeUid: string;
  /** Absent until the pod is scheduled. */
  readonly node: string | undefined;
  readonly hostNetwork: boolean;
  /** Succeeded or failed: its addresses and ports belong to others now. */
  readonly finished: boolean;
  /** It is being deleted; of pods of other nodes nobody asks. */
  readonly leaving?: boolean | undefined;
  /**
   * What it selects besides its primary network, in the order of its annotation; absent where it selects nothing, or nobody can
   * read what. Of pods of other nodes as well: an entry of their annotation counts only where they have selected the network.
   */
  readonly selected?: readonly SelectedNetwork[] | undefined;
  /** Why nobody can read what it selects. It selects nothing then. */
  readonly unreadableSelection?: string | undefined;
  /** Limits of its primary interface, by `kubernetes.io/ingress-bandwidth` and `kubernetes.io/egress-bandwidth`. */
  readonly bandwidth?: Bandwidth | undefined;
  /** Why these annotations cannot be read. Of a pod that is known `bandwidth` is what they said before. */
  readonly unreadableBandwidth?: string | undefined;
  /** By NAD key: limits of interfaces that it does not select any more, or not readably, and still has. */
  readonly keptLimits?: ReadonlyMap<string, Bandwidth> | undefined;
  /** What it asks for in vain. */
  readonly ignored?: readonly IgnoredRequest[] | undefined;
  /** Its addresses by NAD key. */
  readonly networks: PodNetworks;
  /** The host name of the virtual machine that runs in it. */
  readonly machine?: string | undefined;
  /** Which one of its namespace that is: pods that have the same may share addresses. */
  readonly machineId?: string | undefined;
  /**
   * By NAD key, of `networks`: the pod of the same virtual machine that has its addresses and MAC now. The port is closed until the
   * machine runs here.
   */
  readonly standby?: ReadonlyMap<string, string> | undefined;
  /** Ports of the node that it asks for, of a pod of this node; of a host-network pod those that it has itself. */
  readonly hostPorts?: readonly HostPort[] | undefined;
  /** Why others are none. */
  readonly refusedHostPorts?: readonly string[] | undefined;
  /** What else of its default interface is open, by its annotation `k8s.ovn.org/open-default-ports`. */
  readonly openPorts?: readonly OpenPort[] | undefined;
  /** Why that annotation cannot be read. Then nothing is open. */
  readonly unreadableOpenPorts?: string | undefined;
  /** Why its annotation cannot be read. */
  readonly unreadable?: string | undefined;
  /** Keys of `networks` that its annotation had and does not have any more. */
  readonly lost?: ReadonlySet<string> | undefined;
  /** By NAD key: why what its annotation says there is not in `networks`. */
  readonly refused?: ReadonlyMap<string, string> | undefined;
  /** Why it gets no port: its annotation has what is no pod's, or its name is that of other rows. */
  readonly barred?: string | undefined;
}

/** Whether the default network is only for the infrastructure to this pod: it has a primary network. */
export const isLocked = (pod: Pick<PodFact, 'hostNetwork' | 'networks'>): boolean =>
  !pod.hostNetwork && pod.networks.get(DEFAULT_NETWORK_NAME)?.role === 'infrastructure-locked';

/** A pod of this node that asks for a port of it. */
export interface HostPortClaim {
  /** `namespace/name` */
  readonly pod: string;
  readonly createdAt: string;
  /** See `HostPort`. */
  readonly hostIp?: Ip | undefined;
}

/** A Service with ClusterIPs. */
export interface ServiceFact {
  readonly namespace: string;
  readonly name: string;
  /** For those who get events about it. */
  readonly uid?: string | undefined;
  readonly clusterIps: readonly Ip[];
  readonly ports: readonly ServicePort[];
  /** See `Service`. */
  readonly affinitySeconds: number | undefined;
  /** See `Service`; empty and `Cluster` where nothing is said, and so are the next ones. */
  readonly externalIps: readonly Ip[];
  readonly loadBalancerIps: readonly Ip[];
  /** Of these two what is no address. */
  readonly badIps?: readonly string[];
  readonly externalTrafficPolicy: TrafficPolicy;
  readonly internalTrafficPolicy: TrafficPolicy;
  readonly healthCheckNodePort: number | undefined;
  /** Of two that want the same, the older has it: RFC 3339, as the API server writes it. */
  readonly createdAt: string;
}

/** An EndpointSlice of a Service, reduced to where it may be sent to. */
export interface SliceFact {
  readonly name: string;
  /** Who wrote it: Kubernetes for the default network, the cluster manager for a primary one, or somebody else by hand. */
  readonly madeFor: 'default' | 'primary' | 'any';
  /**
   * Of one that was made for a primary network: its name. By hand, that is one with the label `k8s.ovn.org/service-name`, as
   * mirrors have it (HyperShift writes such); others by hand are for the network of their namespace, whichever that is.
   */
  readonly network?: string | undefined;
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  /** In the slice's order; those that are neither ready nor still serving are left out. */
  readonly ready: readonly EndpointFact[];
  /** About to end, but they still answer. */
  readonly terminating: readonly EndpointFact[];
}

export interface EndpointFact {
  readonly ip: Ip;
  /** Where it runs; absent when nobody has said so. */
  readonly node?: string | undefined;
  /** The clients that it is meant for, by their zones (`topology.kubernetes.io/zone`) and by their nodes. */
  readonly forZones?: readonly string[] | undefined;
  readonly forNodes?: readonly string[] | undefined;
}

/** The number that a Service's port has at all endpoints of a slice. */
export interface SlicePort {
  readonly name: string;
  readonly protocol: ServiceProtocol;
  readonly port: number;
}

/** Somebody on the links of the gateway bridge. */
export interface NeighbourFact {
  readonly ip: Ip;
  readonly mac: Mac;
}

/** A place of processes, cgroups(7). */
export interface CgroupFact {
  /** As nft names it, below /sys/fs/cgroup: `kubelet.slice/kubelet.service`. */
  readonly path: string;
  /** How deep below the root of cgroup v2. */
  readonly level: number;
  /** Its inode. Rules hold this and not the path: one that was recreated at the same path is another one. */
  readonly id?: string | undefined;
  /** No process is in it, nor below it. */
  readonly isEmpty?: true;
}

export interface NadProblemFact {
  /** Without a full stop. */
  readonly message: string;
  /** An older NAD says otherwise of the network: it is no matter of waiting. */
  readonly contradicts: boolean;
}

/** What a NAD of another plugin says. */
export type ForeignNadFact = { readonly conf: ForeignConf } | { readonly unreadable: string };

/** Kinds of facts and what each is. Ids are texts. */
export interface Facts {
  /** By name. */
  readonly node: NodeFact;
  /** By node name. Absent while unknown, and of nodes without gateways. */
  readonly gateway: GatewayFact;
  /** By node name. Follows from `gateway`, for those who need no more of it: addresses change, this does not. */
  readonly gatewayMode: GatewayFact['mode'];
  /** By node name: all addresses of the host that others may use (`k8s.ovn.org/host-cidrs`). */
  readonly hostAddresses: readonly InterfaceAddress[];
  /** By `nodeSubnetsId`: the parts of a layer-3 network's subnets that belong to a node. */
  readonly nodeSubnets: readonly Cidr[];
  /** By network name. */
  readonly network: NetworkFact;
  /** By what names of its OVN rows begin with (`networkPrefix`): the network's name. */
  readonly networkPrefix: string;
  /** By NAD key: the network's name. */
  readonly nad: string;
  /** By NAD key: why its network is none here. */
  readonly nadProblem: NadProblemFact;
  /** By NAD key: plugins that its list has beside ours. */
  readonly nadBeside: readonly string[];
  /** By NAD key: nothing says that it was rendered from a network (`isHandmade` of api/nad-owner.ts). */
  readonly handmadeNad: true;
  /** By NAD key: it is there, and of another plugin. */
  readonly foreignNad: ForeignNadFact;
  /** By namespace. */
  readonly primaryNad: PrimaryNadFact;
  /** By name. */
  readonly namespace: NamespaceFact;
  /** By `namespace/name`. */
  readonly pod: PodFact;
  /** By `namespace/name`. */
  readonly service: ServiceFact;
  /** By the Service's `namespace/name`, in the order of their names: at least one. */
  readonly serviceSlices: readonly SliceFact[];
  /** By node name: why nothing is written for it. */
  readonly refusedNode: string;
  /** By address: some node has it. */
  readonly nodeAddress: true;
  /** By address of the default network: a pod with a primary network has it, of this node or of a layer-2 network. Follows from `pod`. */
  readonly lockedAddress: true;
  /** By `externalAddressId` and `nodePortId`: the Service that has it, as `namespace/name`. */
  readonly externalAddress: string;
  /** By `hostPortId`: the pods of this node that ask for the port, the oldest first. */
  readonly hostPortClaims: readonly HostPortClaim[];
  /** By network name: something on this node needs the network (a pod here, host-network ones too, or one that is to come). */
  readonly networkInUse: true;
  /** By network name, of those that are in use: see `View.networkShares`. */
  readonly networkShares: number;
  /** By name of a physical network: the bridge of this node that `ovn-bridge-mappings` has for it, and that is there. */
  readonly physicalBridge: string;
  /** `LOCAL`: where the tunnels of other nodes end here. */
  readonly encapIps: readonly Ip[];
  /** `LOCAL`: the largest MTU of pods whose packets fit this node's tunnels. */
  readonly tunnelMtu: number;
  /** `LOCAL`: those that the default network's gateway router of this node knows, by address. */
  readonly neighbours: readonly NeighbourFact[];
  /** `LOCAL`: where the kubelet's processes are. */
  readonly kubeletCgroup: CgroupFact;
  /** By the UID by which the container runtime knows a pod of this node: where its processes are. */
  readonly podCgroup: CgroupFact;
  /** By the rule's id. */
  readonly policyRule: PolicyRuleFact;
  /** By the rule's id. */
  readonly adminRule: AdminRuleFact;
  /** By the set's id. */
  readonly subjectSet: SubjectSetFact;
  /** By the set's id. */
  readonly peerSet: PeerSetFact;
  /** By the set's id. */
  readonly domainSet: DomainSetFact;
  /** By domain name, of those that sets are of: what the resolver has found, sorted. Absent: nothing yet. */
  readonly domainAddresses: readonly Ip[];
  /** By the group's id. */
  readonly denyGroup: DenyGroupFact;
  /** By `namespace/name` of pods of this node that a policy selects, and by `attachmentId` of those that a MultiNetworkPolicy selects. */
  readonly podPolicy: PodPolicyFact;
  /** By `namespace/name`, of pods of this node: which policies select it is known, and `podPolicy` says what follows. By `attachmentId`, too. */
  readonly decidedPod: true;
  /** `LOCAL`: policies are followed, so that a pod is not to have a port before `decidedPod`. */
  readonly policiesFollowed: true;
  /** By name of a secondary network: MultiNetworkPolicies name it, so that no attachment is to have a port before its `decidedPod`. */
  readonly multiPolicies: true;
  /** By `namespace/name`, of pods of any node; as a peer on a secondary network by `attachmentId`. */
  readonly policyPeer: PolicyPeerFact;
}

/** The id of facts of which a node has one. */
export const LOCAL = '';

export type FactKind = keyof Facts;
/** Of which there is one for each pod of the cluster: no fragment reads them. */
export type BareKind = 'policyPeer';
/** What fragments can read. */
export type ReadKind = Exclude<FactKind, BareKind>;

/** Node names have no slash (RFC 1123), so this is unique whatever a network is called. */
export const nodeSubnetsId = (node: string, network: string): string => `${node}/${network}`;

/** Of a pod on a secondary network: names of pods have no blank. @param pod `namespace/name` */
export const attachmentId = (pod: string, network: string): string => `${pod}${ON}${network}`;

/** @param id `namespace/name`, or `attachmentId` */
export const podOfId = (id: string): string => id.split(ON, 1)[0] ?? id;

/** Undefined: it is of no secondary network. */
export const networkOfId = (id: string): string | undefined => {
  const at = id.indexOf(ON);
  return at < 0 ? undefined : id.slice(at + ON.length);
};

const ON = ' on ';

export const externalAddressId = (ip: Ip, { protocol, port }: Pick<ServicePort, 'protocol' | 'port'>): string =>
  `${ip} ${protocol}/${port}`;
/** On all addresses of all nodes. */
export const nodePortId = (protocol: ServiceProtocol, nodePort: number): string => `node ${protocol}/${nodePort}`;

/** On this node. */
export const hostPortId = (protocol: ServiceProtocol, port: number): string => `${protocol}/${port}`;

/** All that a Service wants to be reached at from outside: ids of `externalAddress`. Load balancers ask a node about it by a port, too. */
export const claimedAddresses = ({
  ports,
  clusterIps,
  externalIps,
  loadBalancerIps,
  healthCheckNodePort,
}: Pick<ServiceFact, 'ports' | 'clusterIps' | 'externalIps' | 'loadBalancerIps' | 'healthCheckNodePort'>): string[] => {
  const families = new Set(clusterIps.map(ipFamily));
  // There is nothing that addresses of another family could go to.
  const ips = [...new Set([...externalIps, ...loadBalancerIps])].filter((ip) => families.has(ipFamily(ip)));
  const claimed = ports.flatMap(({ nodePort, ...port }) => [
    ...(nodePort === undefined ? [] : [nodePortId(port.protocol, nodePort)]),
    ...ips.map((ip) => externalAddressId(ip, port)),
  ]);
  return healthCheckNodePort === undefined ? claimed : [...claimed, nodePortId('TCP', healthCheckNodePort)];
};

export const serviceKey = ({ namespace, name }: Pick<ServiceFact, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

export const podKey = (pod: Pick<PodFact, 'namespace' | 'name'>): string => `${pod.namespace}/${pod.name}`;
