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
    purpose: 'SNAT of traffic forwarded to pods of the default network to the management port, so that replies return',
  },
  localGateway: {
    name: 'ovn-kube-local-gw-masq',
    hook: { type: 'nat', hook: 'postrouting', priority: 101 },
    purpose: 'local gateway mode: SNAT of pods to the address of the node',
  },
  localGatewayPods: { name: 'ovn-kube-pod-subnet-masq', purpose: 'pods of the default network' },
  localGatewayTenants: { name: 'ovn-kube-udn-masq', purpose: 'pods of user-defined networks' },
  servicesIn: {
    name: 'services-prerouting',
    hook: { type: 'nat', hook: 'prerouting', priority: -100 },
    purpose: 'DNAT of node ports and external addresses to ClusterIPs, which OVN balances',
  },
  servicesOut: {
    name: 'services-output',
    hook: { type: 'nat', hook: 'output', priority: -100 },
    purpose: 'the same for traffic of the host',
  },
  servicesLocal: {
    name: 'services-etp',
    purpose: 'Services with `externalTrafficPolicy: Local`: to the address with only local endpoints',
  },
  services: { name: 'services', purpose: 'all Services, by their maps' },
  servicesInternalMark: {
    name: 'services-itp-mark',
    hook: { type: 'route', hook: 'output', priority: -150 },
    purpose: 'traffic of the host to Services with `internalTrafficPolicy: Local` takes the management port',
  },
  servicesInternal: {
    name: 'services-itp',
    hook: { type: 'nat', hook: 'output', priority: -100 },
    purpose: 'the same to endpoints on the node itself: without OVN',
  },
  tenantServicesIn: {
    name: 'udn-service-prerouting',
    hook: { type: 'filter', hook: 'prerouting', priority: -150 },
    purpose: 'traffic to node ports and external addresses gets the mark of the Service’s network',
  },
  tenantServicesOut: {
    name: 'udn-service-output',
    hook: { type: 'filter', hook: 'output', priority: -150 },
    purpose: 'the same for traffic of the host',
  },
  networkMarks: {
    name: 'udn-network-marks',
    hook: { type: 'filter', hook: 'output', priority: -300 },
    purpose: 'processes cannot set the mark of a user-defined network on traffic to ClusterIPs (`SO_MARK`)',
  },
  hostPodServices: {
    name: 'udn-host-network-pod-services',
    hook: { type: 'route', hook: 'output', priority: -150 },
    purpose: 'traffic of host-network pods of a user-defined network to ClusterIPs gets the mark of that network',
  },
  hostPodMarks: { name: 'udn-host-network-pod-marks', purpose: 'these pods, by their cgroups' },
  tenantServiceMark: { name: 'udn-service-mark', purpose: 'Services by port and address, by their maps' },
  hostPortLoopback: {
    name: 'udn-host-port-loopback',
    hook: { type: 'filter', hook: 'prerouting', priority: -300 },
    purpose: 'nothing from outside reaches loopback addresses, also with `route_localnet`',
  },
  hostPortSnat: {
    name: 'udn-host-port-snat',
    hook: { type: 'nat', hook: 'postrouting', priority: 100 },
    purpose: 'processes that call ports of pods at loopback addresses do so from the host’s masquerade address',
  },
  pathMtu: {
    name: 'no-pmtud',
    hook: { type: 'filter', hook: 'output', priority: 0 },
    purpose: 'drop path MTU messages to other nodes: they would lower the MTU between the nodes',
  },
  forwarding: {
    name: 'udn-forward',
    hook: { type: 'filter', hook: 'forward', priority: 0 },
    purpose: 'the host forwards to pods only through Services: replies are accepted, new connections are not',
  },
  managementIn: {
    name: 'udn-management-in',
    hook: { type: 'filter', hook: 'prerouting', priority: -160 },
    purpose: 'traffic entering by a management port must have a source address of its network',
  },
  tunnelsIn: {
    name: 'udn-tunnels-in',
    hook: { type: 'filter', hook: 'input', priority: 0 },
    purpose: 'tunnels of this node accept traffic from nodes only',
  },
  tunnelsOut: {
    name: 'udn-tunnels-out',
    hook: { type: 'filter', hook: 'output', priority: 0 },
    purpose: 'processes of the node cannot send to tunnels of nodes: only marked packets are tunnel traffic',
  },
  processMarks: {
    name: 'udn-process-marks',
    hook: { type: 'filter', hook: 'postrouting', priority: 300 },
    purpose: 'traffic of processes into Open vSwitch gets a mark, which the encapsulated packet keeps',
  },
  tunnelsInClear: {
    name: 'udn-tunnels-encrypted',
    hook: { type: 'filter', hook: 'output', priority: 0 },
    purpose: 'encrypted tunnels: tunnel traffic leaves through IPsec only',
  },
  isolation: {
    name: 'udn-isolation',
    hook: { type: 'filter', hook: 'output', priority: 0 },
    purpose: 'only the kubelet reaches the default-network addresses of pods that have a primary network',
  },
  defaultPort: {
    name: 'udn-default-port',
    purpose: 'traffic of the host allowed into the default network by the management port, by address',
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
  noSnatNodePorts: { name: 'mgmtport-no-snat-nodeports', purpose: 'node ports that preserve the client address' },
  noSnatServices: { name: 'mgmtport-no-snat-services', purpose: 'endpoints that preserve the client address' },
  noSnatSubnets: { name: 'mgmtport-no-snat-subnets', purpose: 'sources that are not translated' },
  nodePortIps: { name: 'nodeport-ips', purpose: 'addresses of the node that serve node ports' },
  nodePorts: { name: 'nodeports', purpose: 'node ports → ClusterIP and port' },
  nodePortsLocal: { name: 'nodeports-etp-local', purpose: 'those with local endpoints only' },
  externalIps: { name: 'external-ips', purpose: 'external addresses and ports → ClusterIP and port' },
  externalIpsLocal: { name: 'external-ips-etp-local', purpose: 'those with local endpoints only' },
  internalToMark: {
    name: 'itp-services-to-mark',
    purpose: 'ClusterIPs and ports with `internalTrafficPolicy: Local`, of the default network',
  },
  internalToHost: {
    name: 'itp-services-to-host',
    purpose: 'those with an endpoint on the node itself → that endpoint',
  },
  markNodePorts: { name: 'udn-mark-nodeports', purpose: 'node ports → mark chain of the Service’s network' },
  markExternalIps: { name: 'udn-mark-external-ips', purpose: 'external addresses and ports → the same' },
  remoteNodes: { name: 'remote-node-ips', purpose: 'addresses of other nodes' },
  defaultPods: { name: 'udn-default-pods', purpose: 'addresses of pods of the default network, on this node' },
  nodeIps: { name: 'udn-node-ips', purpose: 'addresses of all nodes, the possible tunnel endpoints' },
  managementSources: {
    name: 'udn-management-sources',
    purpose: 'management ports of user-defined networks, with the source addresses of their pods',
  },
  managementIps: {
    name: 'udn-management-ips',
    purpose: 'management ports of user-defined networks, with the addresses of the host',
  },
  isolatedPods: { name: 'udn-pod-default-ips', purpose: 'addresses on the default network of pods with a primary one' },
  openPorts: { name: 'udn-open-ports', purpose: 'ports that are open on these addresses' },
  openIcmp: { name: 'udn-open-ports-icmp', purpose: 'those of these addresses that accept ICMP echo' },
  tenantClusterIps: { name: 'udn-cluster-ips', purpose: 'ClusterIPs of Services of user-defined networks' },
  markHostPods: { name: 'udn-mark-host-network-pods', purpose: 'host-network pods → mark chain of their network' },
  hostPods: { name: 'udn-host-network-pods', purpose: 'host-network pods with the management port of their network' },
} as const satisfies Readonly<Record<string, { readonly name: string; readonly purpose: string }>>;

/** Of a set that there is once for each family. */
export const setName = (set: keyof typeof NFT_SETS, family: Family): string => `${NFT_SETS[set].name}-v${family}`;
