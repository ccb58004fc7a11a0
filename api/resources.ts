/** Where the kinds of this project's CRDs are served, as `kube` wants to know it. */
const described = <Kind extends string>(
  group: string,
  plural: string,
  kind: Kind,
  namespaced: boolean,
  version = 'v1',
) => ({ group, version, plural, kind, namespaced }) as const;

export const USER_DEFINED_NETWORKS = described('k8s.ovn.org', 'userdefinednetworks', 'UserDefinedNetwork', true);
export const CLUSTER_USER_DEFINED_NETWORKS = described(
  'k8s.ovn.org',
  'clusteruserdefinednetworks',
  'ClusterUserDefinedNetwork',
  false,
);
export const NETWORK_ATTACHMENT_DEFINITIONS = described(
  'k8s.cni.cncf.io',
  'network-attachment-definitions',
  'NetworkAttachmentDefinition',
  true,
);
export const IPAM_CLAIMS = described('k8s.cni.cncf.io', 'ipamclaims', 'IPAMClaim', true, 'v1alpha1');
export const NODE_NETWORK_REPORTS = described(
  'k8s.ovn.org',
  'nodenetworkreports',
  'NodeNetworkReport',
  false,
  'v1alpha1',
);
export const MULTI_NETWORK_POLICIES = described(
  'k8s.cni.cncf.io',
  'multi-networkpolicies',
  'MultiNetworkPolicy',
  true,
  'v1beta1',
);
export const EGRESS_FIREWALLS = described('k8s.ovn.org', 'egressfirewalls', 'EgressFirewall', true);
/** Of OpenShift: its definition is installed with the plugin of CoreDNS that writes their status. */
export const DNS_NAME_RESOLVERS = described(
  'network.openshift.io',
  'dnsnameresolvers',
  'DNSNameResolver',
  true,
  'v1alpha1',
);
export const NETWORK_ID_POOLS = described('k8s.ovn.org', 'networkidpools', 'NetworkIdPool', false, 'v1alpha1');
