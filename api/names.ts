/** Names that users, other tools and our own programs agree on. */

export const UDN_API_VERSION = 'k8s.ovn.org/v1';
export const NAD_API_VERSION = 'k8s.cni.cncf.io/v1';
export const IPAM_CLAIM_API_VERSION = 'k8s.cni.cncf.io/v1alpha1';

/** `type` of the CNI plugin: NADs with another one are not ours. */
export const CNI_PLUGIN_TYPE = 'ovn-k8s-cni-overlay';
/** Name of the network in the configuration that container runtimes find. */
export const CNI_NETWORK_NAME = 'ovn-kubernetes';
/** Name of the cluster's default network, and its key in annotations. */
export const DEFAULT_NETWORK_NAME = 'default';
/** Names that a NAD may not give to a network. */
export const RESERVED_NETWORK_NAMES: readonly string[] = ['', DEFAULT_NETWORK_NAME, CNI_NETWORK_NAME];

/** On a namespace, from its creation on: its pods use the namespace's primary network. */
export const PRIMARY_NETWORK_LABEL = 'k8s.ovn.org/primary-user-defined-network';
/** On a NAD that was rendered from a UserDefinedNetwork or ClusterUserDefinedNetwork. */
export const UDN_LABEL = 'k8s.ovn.org/user-defined-network';
export const UDN_FINALIZER = 'k8s.ovn.org/user-defined-network-protection';
/** On an IPAMClaim that has addresses: it stays as long as a pod has them. */
export const IPAM_CLAIM_FINALIZER = 'k8s.ovn.org/ipam-claim-protection';

/** Interface of a pod's primary user-defined network; eth0 stays on the default network. */
export const PRIMARY_INTERFACE = 'ovn-udn1';
export const DEFAULT_INTERFACE = 'eth0';

export const POD_ANNOTATIONS = {
  networks: 'k8s.ovn.org/pod-networks',
  openDefaultPorts: 'k8s.ovn.org/open-default-ports',
  selection: 'k8s.v1.cni.cncf.io/networks',
  networkStatus: 'k8s.v1.cni.cncf.io/network-status',
  defaultNetwork: 'v1.multus-cni.io/default-network',
  /** The older way to name the claim of the primary network. */
  primaryClaim: 'k8s.ovn.org/primary-udn-ipamclaim',
  /** A proposal of ovn-kubernetes (OKEP-5252): which primary network a pod is on. */
  requestedPrimary: 'k8s.ovn.org/requested-primary-udn',
  ingressBandwidth: 'kubernetes.io/ingress-bandwidth',
  egressBandwidth: 'kubernetes.io/egress-bandwidth',
} as const;

/** Of Namespaces. */
export const NAMESPACE_ANNOTATIONS = {
  aclLogging: 'k8s.ovn.org/acl-logging',
} as const;

/** What KubeVirt says of the pods that its virtual machines run in (https://kubevirt.io/user-guide/). */
export const KUBEVIRT = {
  /** Label: the machine's host name, which several machines may have (`machineIdentity`). */
  hostName: 'vm.kubevirt.io/name',
  /** Label: UID of its VirtualMachineInstance. */
  createdBy: 'kubevirt.io/created-by',
  /** Annotation: the machine has the pod's own address, and takes it along to another pod. */
  migratesWithAddress: 'kubevirt.io/allow-pod-bridge-network-live-migration',
  /** Annotation, on the target of a live migration: since when the machine runs in it. */
  targetReady: 'kubevirt.io/migration-target-ready-timestamp',
} as const;

export const NAD_ANNOTATIONS = {
  networkId: 'k8s.ovn.org/network-id',
  networkName: 'k8s.ovn.org/network-name',
  tunnelKeys: 'k8s.ovn.org/tunnel-keys',
  /** Of one that was written by hand: the CNI configuration that counts. */
  networkConfig: 'k8s.ovn.org/network-config',
} as const;

/** Of EndpointSlices: https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/ */
export const SLICE_LABELS = {
  managedBy: 'endpointslice.kubernetes.io/managed-by',
  service: 'kubernetes.io/service-name',
  /** In place of `service`, so that whoever follows that label does not send to addresses it cannot reach. */
  mirroredService: 'k8s.ovn.org/service-name',
} as const;
/** Of Services and their EndpointSlices. */
export const SERVICE_LABELS = {
  /** Has no ClusterIP, so nothing is to be done for it. */
  headless: 'service.kubernetes.io/headless',
  /** Somebody else programs it. */
  proxyName: 'service.kubernetes.io/service-proxy-name',
} as const;
/** Who makes the EndpointSlices of Services with a selector. */
export const SLICE_CONTROLLER = 'endpointslice-controller.k8s.io';
/** Who makes their mirrors, with addresses of primary networks. */
export const SLICE_MIRROR_CONTROLLER = 'endpointslice-mirror-controller.k8s.ovn.org';
export const SLICE_ANNOTATIONS = {
  network: 'k8s.ovn.org/endpointslice-network',
  source: 'k8s.ovn.org/source-endpointslice',
  sourceVersion: 'k8s.ovn.org/source-endpointslice-version',
} as const;

/** https://kubernetes.io/docs/reference/labels-annotations-taints/#topologykubernetesiozone */
export const NODE_LABELS = {
  zone: 'topology.kubernetes.io/zone',
  /** https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetes-io-os */
  system: 'kubernetes.io/os',
  /** With any value: no agent runs on the node, and no network waits for it. */
  excluded: 'k8s.ovn.org/exclude-from-networks',
} as const;

export const NODE_ANNOTATIONS = {
  subnets: 'k8s.ovn.org/node-subnets',
  id: 'k8s.ovn.org/node-id',
  transitAddresses: 'k8s.ovn.org/node-transit-switch-port-ifaddr',
  chassisId: 'k8s.ovn.org/node-chassis-id',
  encapIps: 'k8s.ovn.org/node-encap-ips',
  primaryAddresses: 'k8s.ovn.org/node-primary-ifaddr',
  hostCidrs: 'k8s.ovn.org/host-cidrs',
  gatewayConfig: 'k8s.ovn.org/l3-gateway-config',
  masqueradeSubnets: 'k8s.ovn.org/node-masquerade-subnet',
  gatewayMtuSupport: 'k8s.ovn.org/gateway-mtu-support',
  layer2TopologyVersion: 'k8s.ovn.org/layer2-topology-version',
  zoneName: 'k8s.ovn.org/zone-name',
} as const;

/** Network name of a UserDefinedNetwork: `<namespace>_<name>`. */
export const udnNetworkName = (namespace: string, name: string): string => `${namespace}_${name}`;

/** Network name of a ClusterUserDefinedNetwork: `cluster_udn_<name>`. */
export const cudnNetworkName = (name: string): string => `${CUDN_PREFIX}${name}`;

/** The name of the ClusterUserDefinedNetwork behind a network; undefined when it is none. */
export const cudnOfNetworkName = (network: string): string | undefined =>
  network.startsWith(CUDN_PREFIX) ? network.slice(CUDN_PREFIX.length) : undefined;

/** Prefix of the names of a network's OVN rows: `ns-a_my-net` → `ns.a_my.net_`; empty for the default network. */
export const networkPrefix = (network: string): string =>
  network === DEFAULT_NETWORK_NAME ? '' : `${dotted(network)}_`;

/**
 * What names of a network's OVN rows begin with, up to their last `_`; the rest of a name has none. Two networks that have no
 * beginning in common have no name in common, whatever nodes are called. With networks `red` and `ext_red` the external switch
 * of the one would be the node's switch of the other.
 */
export const rowNameStems = (network: string): readonly string[] => {
  const prefix = networkPrefix(network);
  return [
    prefix,
    ...['ext_', 'GR_'].map((kind) => `${kind}${prefix}`),
    ...['transit_', 'ovn_cluster_', 'ovn_layer2_', 'ovn_localnet_'].map((kind) => `${prefix}${kind}`),
  ];
};

/** Why a node's OVN rows would have names of other rows, where its name is to blame. */
export const refusalOfNodeName = (node: string): string | undefined => {
  if (node === 'join') return 'its switches would be the join switches of the networks';
  const kind = ['rtots-', 'tstor-'].find((one) => node.startsWith(one));
  return kind && `with ${kind} the names of ports to transit switches begin`;
};

/** Why no gateway bridge may have a name: with `<bridge>_` the names of its localnet ports begin. */
export const refusalOfBridgeName = (bridge: string): string | undefined => {
  const [kind] = /^(rtos|stor|k8s|rtoj|jtor|rtoe|etor|rtotr|trtor|trtos|stotr)-/.exec(bridge) ?? [];
  return kind && `with ${kind} the names of routers' and switches' ports begin`;
};

/** Prefix of the names of a NAD's pod ports: `namespace1/blue-net` → `namespace1.blue.net_`. */
export const nadPrefix = (key: string): string => (key === DEFAULT_NETWORK_NAME ? '' : `${dotted(key)}_`);

/** Key of a NAD in annotations; the second and later attachments of a pod to the same NAD have their index behind it. */
export const nadKey = (namespace: string, name: string, attachment = 0): string =>
  attachment === 0 ? `${namespace}/${name}` : `${namespace}/${name}/${attachment}`;

/** The inverse of `nadKey`; undefined for `default` and for what is no key. */
export const parseNadKey = (key: string): { namespace: string; name: string; attachment: number } | undefined => {
  const match = /^([^/]+)\/([^/]+)(?:\/([1-9][0-9]*))?$/.exec(key);
  const [, namespace, name, attachment = '0'] = match ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  return { namespace, name, attachment: Number(attachment) };
};

const CUDN_PREFIX = 'cluster_udn_';

const dotted = (name: string): string => name.replaceAll('-', '.').replaceAll('/', '.');
