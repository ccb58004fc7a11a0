/**
 * Chains, sets and maps of our nftables table. Names are those of ovn-kubernetes. Priorities are those of nft(8), "Priority
 * names and values": `mangle` -150, `filter` 0, `srcnat` 100.
 */
import type { ChainHook } from '../../../datapath/nftables/types.ts';
import type { Family } from '../../../net/ip.ts';

export interface ChainEntry {
  readonly name: string;
  /** Absent: a chain to jump to. */
  readonly hook?: ChainHook;
  readonly purpose: string;
}

export const NFT_CHAINS = {
  managementSnat: {
    name: 'mgmtport-snat',
    hook: { type: 'nat', hook: 'postrouting', priority: 100 },
    purpose:
      'what is forwarded to pods of the default network comes from the management port, so that replies come back',
  },
  localGateway: {
    name: 'ovn-kube-local-gw-masq',
    hook: { type: 'nat', hook: 'postrouting', priority: 101 },
    purpose: 'local gateway mode: pods leave with the address of the node',
  },
  localGatewayPods: { name: 'ovn-kube-pod-subnet-masq', purpose: 'pods of the default network' },
  localGatewayTenants: { name: 'ovn-kube-udn-masq', purpose: 'pods of user-defined networks' },
  servicesIn: {
    name: 'services-prerouting',
    hook: { type: 'nat', hook: 'prerouting', priority: -100 },
    purpose: 'what comes to node ports and external addresses goes to a ClusterIP, and so to OVN',
  },
  servicesOut: {
    name: 'services-output',
    hook: { type: 'nat', hook: 'output', priority: -100 },
    purpose: 'the same for what the host sends',
  },
  servicesLocal: {
    name: 'services-etp',
    purpose: 'Services with `externalTrafficPolicy: Local`: to the address that has only this node’s endpoints',
  },
  services: { name: 'services', purpose: 'all Services, by their maps' },
  servicesInternalMark: {
    name: 'services-itp-mark',
    hook: { type: 'route', hook: 'output', priority: -150 },
    purpose: 'what the host sends to Services with `internalTrafficPolicy: Local` goes by the management port',
  },
  servicesInternal: {
    name: 'services-itp',
    hook: { type: 'nat', hook: 'output', priority: -100 },
    purpose: 'the same to endpoints that are the node itself: not by way of OVN',
  },
  tenantServicesIn: {
    name: 'udn-service-prerouting',
    hook: { type: 'filter', hook: 'prerouting', priority: -150 },
    purpose: 'what comes to node ports and external addresses gets the mark of the Service’s network',
  },
  tenantServicesOut: {
    name: 'udn-service-output',
    hook: { type: 'filter', hook: 'output', priority: -150 },
    purpose: 'the same for what the host sends',
  },
  networkMarks: {
    name: 'udn-network-marks',
    hook: { type: 'filter', hook: 'output', priority: -300 },
    purpose: 'no process gives what it sends to ClusterIPs the mark of a user-defined network by itself (`SO_MARK`)',
  },
  hostPodServices: {
    name: 'udn-host-network-pod-services',
    hook: { type: 'route', hook: 'output', priority: -150 },
    purpose: 'what host-network pods of a user-defined network send to ClusterIPs gets its mark',
  },
  hostPodMarks: { name: 'udn-host-network-pod-marks', purpose: 'these pods, by their cgroups' },
  tenantServiceMark: { name: 'udn-service-mark', purpose: 'Services by port and address, by their maps' },
  pathMtu: {
    name: 'no-pmtud',
    hook: { type: 'filter', hook: 'output', priority: 0 },
    purpose: 'no path MTU messages to other nodes: they would shrink what the nodes send to each other',
  },
  forwarding: {
    name: 'udn-forward',
    hook: { type: 'filter', hook: 'forward', priority: 0 },
    purpose: 'nobody gets to pods through the host but by a service: replies are let through, connections are not',
  },
  managementIn: {
    name: 'udn-management-in',
    hook: { type: 'filter', hook: 'prerouting', priority: -160 },
    purpose: 'what comes in by a management port has an address that its network has there, or goes no further',
  },
  tunnelsIn: {
    name: 'udn-tunnels-in',
    hook: { type: 'filter', hook: 'input', priority: 0 },
    purpose: 'tunnels of this node take only what comes from a node',
  },
  tunnelsOut: {
    name: 'udn-tunnels-out',
    hook: { type: 'filter', hook: 'output', priority: 0 },
    purpose: 'no process of the node sends to tunnels of nodes: only what has a mark is a tunnel’s own packet',
  },
  processMarks: {
    name: 'udn-process-marks',
    hook: { type: 'filter', hook: 'postrouting', priority: 300 },
    purpose: 'what processes of the node give to Open vSwitch has a mark, which it keeps inside a tunnel’s packet',
  },
  tunnelsInClear: {
    name: 'udn-tunnels-encrypted',
    hook: { type: 'filter', hook: 'output', priority: 0 },
    purpose: 'encrypted tunnels: nothing that a tunnel sends leaves but by IPsec',
  },
  isolation: {
    name: 'udn-isolation',
    hook: { type: 'filter', hook: 'output', priority: 0 },
    purpose: 'only the kubelet reaches the default-network addresses of pods that have a primary network',
  },
  defaultPort: {
    name: 'udn-default-port',
    purpose: 'what the host may send into the default network by its management port, by address; nothing else',
  },
  isolationKubelet: { name: 'udn-isolation-kubelet', purpose: 'the kubelet, by its cgroup' },
  managementIsolation: {
    name: 'udn-management-isolation',
    hook: { type: 'filter', hook: 'output', priority: 0 },
    purpose: 'only host-network pods of a user-defined network reach it by its management port',
  },
  managementIsolationPods: { name: 'udn-management-isolation-pods', purpose: 'these pods, by their cgroups' },
} as const satisfies Readonly<Record<string, ChainEntry>>;

/** Sets a network's packet mark. */
export const markChainName = (mark: number): string => `udn-mark-0x${mark.toString(16)}`;

/** Sets and maps by family have `-v4` or `-v6` behind. */
export const NFT_SETS = {
  noSnatNodePorts: { name: 'mgmtport-no-snat-nodeports', purpose: 'node ports whose clients pods are to see' },
  noSnatServices: { name: 'mgmtport-no-snat-services', purpose: 'endpoints whose clients pods are to see' },
  noSnatSubnets: { name: 'mgmtport-no-snat-subnets', purpose: 'sources that pods are to see as they are' },
  nodePortIps: { name: 'nodeport-ips', purpose: 'addresses of the node at which node ports are' },
  nodePorts: { name: 'nodeports', purpose: 'node ports → ClusterIP and port' },
  nodePortsLocal: { name: 'nodeports-etp-local', purpose: 'those for which only this node’s endpoints count' },
  externalIps: { name: 'external-ips', purpose: 'external addresses and ports → ClusterIP and port' },
  externalIpsLocal: { name: 'external-ips-etp-local', purpose: 'those for which only this node’s endpoints count' },
  internalToMark: {
    name: 'itp-services-to-mark',
    purpose: 'ClusterIPs and ports with `internalTrafficPolicy: Local`, of the default network',
  },
  internalToHost: { name: 'itp-services-to-host', purpose: 'those with an endpoint that is the node → it' },
  markNodePorts: { name: 'udn-mark-nodeports', purpose: 'node ports → mark chain of the Service’s network' },
  markExternalIps: { name: 'udn-mark-external-ips', purpose: 'external addresses and ports → the same' },
  remoteNodes: { name: 'remote-node-ips', purpose: 'addresses of other nodes' },
  defaultPods: { name: 'udn-default-pods', purpose: 'addresses of pods of the default network, on this node' },
  nodeIps: { name: 'udn-node-ips', purpose: 'addresses of all nodes, at which tunnels may end' },
  managementSources: {
    name: 'udn-management-sources',
    purpose: 'management ports of user-defined networks, and as which their pods come in there',
  },
  managementIps: {
    name: 'udn-management-ips',
    purpose: 'management ports of user-defined networks, and the addresses that the host has there',
  },
  isolatedPods: { name: 'udn-pod-default-ips', purpose: 'addresses on the default network of pods with a primary one' },
  openPorts: { name: 'udn-open-ports', purpose: 'ports that are open on these addresses' },
  openIcmp: { name: 'udn-open-ports-icmp', purpose: 'those of these addresses that may be pinged' },
  tenantClusterIps: { name: 'udn-cluster-ips', purpose: 'ClusterIPs of Services of user-defined networks' },
  markHostPods: { name: 'udn-mark-host-network-pods', purpose: 'host-network pods → mark chain of their network' },
  hostPods: { name: 'udn-host-network-pods', purpose: 'host-network pods with the management port of their network' },
} as const satisfies Readonly<Record<string, { readonly name: string; readonly purpose: string }>>;

/** Of a set that there is once for each family. */
export const setName = (set: keyof typeof NFT_SETS, family: Family): string => `${NFT_SETS[set].name}-v${family}`;
