import type { ClusterConfig } from '../../api/cluster-config.ts';
import type { AllowedPlugin } from '../../api/foreign-plugins.ts';
import type { Cidr, InterfaceAddress } from '../../net/cidr.ts';
import type { DomainName } from '../../net/domain-name.ts';
import type { Ip } from '../../net/ip.ts';
import type {
  CgroupFact,
  ForeignNadFact,
  GatewayFact,
  HostPortClaim,
  NadProblemFact,
  NamespaceFact,
  NeighbourFact,
  NetworkFact,
  NodeFact,
  PodFact,
  PrimaryNadFact,
  ServiceFact,
  SliceFact,
} from './facts.ts';
import type {
  AdminRuleFact,
  DenyGroupFact,
  DomainSetFact,
  PeerSetFact,
  PodPolicyFact,
  PolicyRuleFact,
  SubjectSetFact,
} from './policies/facts.ts';

/** IPsec between nodes, by these files of the node (PEM): ovs-vswitchd.conf.db(5), `other_config` of Open_vSwitch. */
export interface TunnelEncryption {
  readonly certificate: string;
  readonly privateKey: string;
  /** Who issues the certificates of all nodes. */
  readonly authority: string;
}

/** What does not change while the agent runs. */
export interface LocalSettings {
  /** The node this agent serves. */
  readonly node: string;
  readonly cluster: ClusterConfig;
  /** Where the tunnels of other nodes end here: one address per family of the underlay, IPv4 first. */
  readonly encapIps: readonly Ip[];
  /** Of the southbound database, for ovn-controller: `unix:/run/ovn/ovnsb_db.sock`. */
  readonly southboundRemote: string;
  /** `always`: this node has every network that has a subnet here. `on-demand`: those that a pod here needs. */
  readonly networkRendering: 'always' | 'on-demand';
  /** `namespace/name` of Services of the default network that pods of every network reach. */
  readonly allowedDefaultServices: readonly string[];
  /** How many connections a network may have on this node; absent: any number. See `features/connection-limit.ts`. */
  readonly connectionLimit?: number | undefined;
  /** Absent: tunnels between nodes are not encrypted. */
  readonly encryption?: TunnelEncryption | undefined;
  /** `native`: ADD of the runtime makes all attachments, those of other plugins, too. `delegated`: Multus asks for each. Absent: native. */
  readonly multiNetwork?: MultiNetwork | undefined;
  /** Plugins of other networks that this node runs, with `native`; absent: none. */
  readonly foreignPlugins?: readonly AllowedPlugin[] | undefined;
  /** Ports of the node that no pod gets, as `reservedPortId`; absent: the default. */
  readonly reservedHostPorts?: readonly string[] | undefined;
  /** Where this agent reaches the API server; absent: by a name. */
  readonly apiServer?: { readonly ip: Ip; readonly port: number } | undefined;
}

export type MultiNetwork = 'native' | 'delegated';

/**
 * The cluster as features see it: plain lookups. Every lookup is remembered, also one that finds nothing, so that the
 * fragment is rendered again when the answer changes. There are no lookups that list: what a fragment is about comes
 * with its subject.
 */
export interface View extends LocalSettings {
  /** The largest MTU of pods whose packets fit this node's tunnels; undefined while unknown. */
  readonly tunnelMtu: number | undefined;
  nodeFact(name: string): NodeFact | undefined;
  /** Why nothing is written for a node. */
  refusedNode(name: string): string | undefined;
  /** Absent while unknown, and of nodes without gateways. */
  gateway(node: string): GatewayFact | undefined;
  /** `gateway(node)?.mode`, for what does not depend on addresses. */
  gatewayMode(node: string): GatewayFact['mode'] | undefined;
  /** `k8s.ovn.org/host-cidrs`; empty while unknown. */
  hostAddresses(node: string): readonly InterfaceAddress[];
  /** Whether this node is to have the rows of a network; always true without `networkRendering: 'on-demand'`. */
  isNetworkHere(network: string): boolean;
  /** Among how many the attachments to a network here share what it may have: at least as many as there are, a power of two. */
  networkShares(network: string): number;
  /** Whether something on this node needs it, also with `networkRendering: 'always'`. */
  isNetworkInUse(network: string): boolean;
  /** Of this node, to which a physical network is mapped; undefined where it is to none that is there. */
  physicalBridge(physicalNetwork: string): string | undefined;
  /** Whose MAC addresses this node knows on the links of its gateway bridge. */
  neighbours(): readonly NeighbourFact[];
  /** Absent while there is no kubelet. */
  kubeletCgroup(): CgroupFact | undefined;
  /** Of a pod of this node, by its `runtimeUid`. */
  podCgroup(uid: string): CgroupFact | undefined;
  /** Empty until the cluster manager has given them. */
  nodeSubnets(node: string, network: string): readonly Cidr[];
  network(name: string): NetworkFact | undefined;
  /** The network whose rows have names that begin so, see `networkPrefix`. */
  networkWithPrefix(prefix: string): string | undefined;
  /** The network that a NAD is about, once both are known. */
  networkOfNad(nadKey: string): NetworkFact | undefined;
  /** Whose plugin a NAD is for; undefined when there is none of this key, or nobody can read it. */
  nadOwner(nadKey: string): 'ours' | 'foreign' | undefined;
  /** Why the network of a NAD is none here; undefined also while nothing is wrong and it has no id yet. */
  nadProblem(nadKey: string): NadProblemFact | undefined;
  /** Plugins that the list of a NAD of ours has beside ours. */
  pluginsBeside(nadKey: string): readonly string[];
  /** What a NAD of another plugin says. */
  foreignNad(nadKey: string): ForeignNadFact | undefined;
  /** Whether nothing of a NAD says that it was rendered from a network. */
  isHandmadeNad(nadKey: string): boolean;
  namespace(name: string): NamespaceFact | undefined;
  primaryNad(namespace: string): PrimaryNadFact | undefined;
  /** @param key `namespace/name` */
  pod(key: string): PodFact | undefined;
  /** @param key `namespace/name` */
  service(key: string): ServiceFact | undefined;
  /** Whether some node has an address; not while its Node does not say so. */
  isNodeAddress(ip: Ip): boolean;
  /** Whether a pod has it that is only for the infrastructure on the default network, as far as this node knows pods. */
  isLockedAddress(ip: Ip): boolean;
  /** The Service that has something outside, as `namespace/name`. @param id `externalAddressId`, `nodePortId` */
  externalAddress(id: string): string | undefined;
  /** Pods of this node that ask for a port of it, the oldest first. @param id `hostPortId` */
  hostPortClaims(id: string): readonly HostPortClaim[];
  /** Of a Service, in the order of their names. @param key `namespace/name` */
  serviceSlices(key: string): readonly SliceFact[];
  policyRule(id: string): PolicyRuleFact | undefined;
  adminRule(id: string): AdminRuleFact | undefined;
  subjectSet(id: string): SubjectSetFact | undefined;
  peerSet(id: string): PeerSetFact | undefined;
  domainSet(id: string): DomainSetFact | undefined;
  /** What a domain name stands for, sorted; empty: nothing that is known. */
  domainAddresses(name: DomainName): readonly Ip[];
  denyGroup(id: string): DenyGroupFact | undefined;
  /** Of a pod of this node; absent where no policy selects it. @param key `namespace/name`, or `attachmentId` */
  podPolicy(key: string): PodPolicyFact | undefined;
  /** Whether `podPolicy` is what policies say of a pod of this node. @param key `namespace/name` */
  isPolicyDecided(key: string): boolean;
  /** The same of a pod's attachments to a secondary network. @param key `namespace/name` */
  isAttachmentDecided(key: string, network: string): boolean;
}
