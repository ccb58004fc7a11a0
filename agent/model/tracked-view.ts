/** A view that remembers what it was asked. */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import type { AllowedPlugin } from '../../api/foreign-plugins.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { DEFAULT_RESERVED_HOST_PORTS, parseReservedHostPorts } from '../../api/reserved-host-ports.ts';
import type { Cidr, InterfaceAddress } from '../../net/cidr.ts';
import type { DomainName } from '../../net/domain-name.ts';
import type { Ip } from '../../net/ip.ts';
import type { FactCell, FactStore } from './fact-store.ts';
import {
  attachmentId,
  type CgroupFact,
  type Facts,
  type ForeignNadFact,
  type GatewayFact,
  type HostPortClaim,
  LOCAL,
  type NadProblemFact,
  type NamespaceFact,
  type NeighbourFact,
  type NetworkFact,
  type NodeFact,
  nodeSubnetsId,
  type PodFact,
  type PrimaryNadFact,
  type ReadKind,
  type ServiceFact,
  type SliceFact,
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
import type { LocalSettings, MultiNetwork, TunnelEncryption, View } from './view.ts';

export class TrackedView implements View {
  readonly node: string;
  readonly cluster: ClusterConfig;
  readonly #encapIps: readonly Ip[];
  readonly southboundRemote: string;
  readonly networkRendering: 'always' | 'on-demand';
  readonly allowedDefaultServices: readonly string[];
  readonly connectionLimit: number | undefined;
  readonly encryption: TunnelEncryption | undefined;
  readonly multiNetwork: MultiNetwork;
  readonly foreignPlugins: readonly AllowedPlugin[];
  readonly reservedHostPorts: readonly string[];
  readonly apiServer: LocalSettings['apiServer'];
  readonly #facts: FactStore;
  #read: FactCell[] = [];

  constructor(facts: FactStore, settings: LocalSettings) {
    this.#facts = facts;
    this.node = settings.node;
    this.cluster = settings.cluster;
    this.#encapIps = settings.encapIps;
    this.southboundRemote = settings.southboundRemote;
    this.networkRendering = settings.networkRendering;
    this.allowedDefaultServices = settings.allowedDefaultServices;
    this.connectionLimit = settings.connectionLimit;
    this.encryption = settings.encryption;
    this.multiNetwork = settings.multiNetwork ?? 'native';
    this.foreignPlugins = settings.foreignPlugins ?? [];
    this.reservedHostPorts = settings.reservedHostPorts ?? RESERVED;
    this.apiServer = settings.apiServer;
  }

  /** The cells that were read since the last call, each once. A list: there is one for each fragment, and it stays. */
  takeReads(): readonly FactCell[] {
    const read = this.#read;
    this.#read = [];
    return read;
  }

  /** Those of the settings until somebody knows better. */
  get encapIps(): readonly Ip[] {
    return this.#value('encapIps', LOCAL) ?? this.#encapIps;
  }

  get tunnelMtu(): number | undefined {
    return this.#value('tunnelMtu', LOCAL);
  }

  nodeFact(name: string): NodeFact | undefined {
    return this.#value('node', name);
  }

  refusedNode(name: string): string | undefined {
    return this.#value('refusedNode', name);
  }

  gateway(node: string): GatewayFact | undefined {
    return this.#value('gateway', node);
  }

  gatewayMode(node: string): GatewayFact['mode'] | undefined {
    return this.#value('gatewayMode', node);
  }

  hostAddresses(node: string): readonly InterfaceAddress[] {
    return this.#value('hostAddresses', node) ?? NO_ADDRESSES;
  }

  isNetworkHere(network: string): boolean {
    return (
      this.networkRendering === 'always' ||
      network === DEFAULT_NETWORK_NAME ||
      this.#value('networkInUse', network) === true
    );
  }

  networkShares(network: string): number {
    return this.#value('networkShares', network) ?? 1;
  }

  isNetworkInUse(network: string): boolean {
    return this.#value('networkInUse', network) === true;
  }

  physicalBridge(physicalNetwork: string): string | undefined {
    return this.#value('physicalBridge', physicalNetwork);
  }

  neighbours(): readonly NeighbourFact[] {
    return this.#value('neighbours', LOCAL) ?? NO_NEIGHBOURS;
  }

  kubeletCgroup(): CgroupFact | undefined {
    return this.#value('kubeletCgroup', LOCAL);
  }

  podCgroup(uid: string): CgroupFact | undefined {
    return this.#value('podCgroup', uid);
  }

  nodeSubnets(node: string, network: string): readonly Cidr[] {
    return this.#value('nodeSubnets', nodeSubnetsId(node, network)) ?? NO_SUBNETS;
  }

  network(name: string): NetworkFact | undefined {
    return this.#value('network', name);
  }

  networkWithPrefix(prefix: string): string | undefined {
    return this.#value('networkPrefix', prefix);
  }

  networkOfNad(nadKey: string): NetworkFact | undefined {
    const network = this.#value('nad', nadKey);
    return network === undefined ? undefined : this.network(network);
  }

  nadOwner(nadKey: string): 'ours' | 'foreign' | undefined {
    if (this.#value('nad', nadKey) !== undefined || this.#value('nadProblem', nadKey) !== undefined) return 'ours';
    return this.#value('foreignNad', nadKey) === undefined ? undefined : 'foreign';
  }

  foreignNad(nadKey: string): ForeignNadFact | undefined {
    return this.#value('foreignNad', nadKey);
  }

  nadProblem(nadKey: string): NadProblemFact | undefined {
    return this.#value('nadProblem', nadKey);
  }

  pluginsBeside(nadKey: string): readonly string[] {
    return this.#value('nadBeside', nadKey) ?? [];
  }

  isHandmadeNad(nadKey: string): boolean {
    return this.#value('handmadeNad', nadKey) === true;
  }

  namespace(name: string): NamespaceFact | undefined {
    return this.#value('namespace', name);
  }

  primaryNad(namespace: string): PrimaryNadFact | undefined {
    return this.#value('primaryNad', namespace);
  }

  pod(key: string): PodFact | undefined {
    return this.#value('pod', key);
  }

  service(key: string): ServiceFact | undefined {
    return this.#value('service', key);
  }

  isNodeAddress(ip: Ip): boolean {
    return this.#value('nodeAddress', ip) === true;
  }

  isLockedAddress(ip: Ip): boolean {
    return this.#value('lockedAddress', ip) === true;
  }

  hostPortClaims(id: string): readonly HostPortClaim[] {
    return this.#value('hostPortClaims', id) ?? NO_CLAIMS;
  }

  externalAddress(id: string): string | undefined {
    return this.#value('externalAddress', id);
  }

  serviceSlices(key: string): readonly SliceFact[] {
    return this.#value('serviceSlices', key) ?? NO_SLICES;
  }

  policyRule(id: string): PolicyRuleFact | undefined {
    return this.#value('policyRule', id);
  }

  adminRule(id: string): AdminRuleFact | undefined {
    return this.#value('adminRule', id);
  }

  subjectSet(id: string): SubjectSetFact | undefined {
    return this.#value('subjectSet', id);
  }

  peerSet(id: string): PeerSetFact | undefined {
    return this.#value('peerSet', id);
  }

  domainSet(id: string): DomainSetFact | undefined {
    return this.#value('domainSet', id);
  }

  domainAddresses(name: DomainName): readonly Ip[] {
    return this.#value('domainAddresses', name) ?? NO_IPS;
  }

  denyGroup(id: string): DenyGroupFact | undefined {
    return this.#value('denyGroup', id);
  }

  podPolicy(key: string): PodPolicyFact | undefined {
    return this.#value('podPolicy', key);
  }

  isPolicyDecided(key: string): boolean {
    return this.#value('policiesFollowed', LOCAL) === undefined || this.#value('decidedPod', key) === true;
  }

  isAttachmentDecided(key: string, network: string): boolean {
    return (
      this.#value('multiPolicies', network) === undefined ||
      this.#value('decidedPod', attachmentId(key, network)) === true
    );
  }

  #value<Kind extends ReadKind>(kind: Kind, id: string): Facts[Kind] | undefined {
    const cell = this.#facts.cell(kind, id);
    if (cell.listed !== this.#read) {
      cell.listed = this.#read;
      this.#read.push(cell as unknown as FactCell);
    }
    return cell.value;
  }
}

const NO_SUBNETS: readonly Cidr[] = [];
const NO_IPS: readonly Ip[] = [];
const NO_ADDRESSES: readonly InterfaceAddress[] = [];
const NO_CLAIMS: readonly HostPortClaim[] = [];
const RESERVED = parseReservedHostPorts(DEFAULT_RESERVED_HOST_PORTS);
const NO_SLICES: readonly SliceFact[] = [];
const NO_NEIGHBOURS: readonly NeighbourFact[] = [];
