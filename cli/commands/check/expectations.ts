/** What an installation has, as `daemonset/` says: test/unit/manifests/expectations.test.ts compares the two. */

export const OLDEST_KUBERNETES = { major: 1, minor: 30 } as const;

export const AGENT = 'udn-agent';
export const CLUSTER_MANAGER = 'udn-cluster-manager';
/** Where Open vSwitch and OVN are in the cluster. */
export const OVN_DAEMONS = 'udn-ovn';
/** By kustomize; the chart has them in the namespace of the programs. */
export const OVN_NAMESPACE = 'udn-ovn';
export type Program = typeof AGENT | typeof CLUSTER_MANAGER;

export const POLICIES: readonly string[] = [
  'default-network-annotation',
  'ovn-udn-agent-events',
  'ovn-udn-finalizers',
  'ovn-udn-network-allocations',
  'ovn-udn-new-nodes',
  'ovn-udn-new-pods',
  'ovn-udn-node-reports',
  'ovn-udn-nodes',
  'ovn-udn-pods',
  'user-defined-networks-namespace-label',
];

/** Policies that know a program by the name of its account, which has the namespace in it. */
export const POLICIES_OF: Readonly<Record<Program, readonly string[]>> = {
  [AGENT]: ['ovn-udn-agent-events', 'ovn-udn-node-reports', 'ovn-udn-nodes', 'ovn-udn-pods'],
  [CLUSTER_MANAGER]: ['ovn-udn-nodes', 'ovn-udn-pods'],
};

/** `resource.group` → verbs, of all namespaces. */
export const PERMISSIONS: Readonly<Record<Program, Readonly<Record<string, readonly string[]>>>> = {
  [AGENT]: {
    events: ['create', 'patch'],
    namespaces: ['list', 'watch'],
    'network-attachment-definitions.k8s.cni.cncf.io': ['list', 'watch'],
    'networkidpools.k8s.ovn.org': ['list', 'watch'],
    'nodenetworkreports.k8s.ovn.org': ['create', 'get', 'patch'],
    nodes: ['get', 'list', 'patch', 'watch'],
    'nodes/status': ['patch'],
    pods: ['get', 'list', 'patch', 'watch'],
    services: ['list', 'watch'],
    'networkpolicies.networking.k8s.io': ['list', 'watch'],
    'adminnetworkpolicies.policy.networking.k8s.io': ['list', 'watch'],
    'baselineadminnetworkpolicies.policy.networking.k8s.io': ['list', 'watch'],
    'clusternetworkpolicies.policy.networking.k8s.io': ['list', 'watch'],
    'egressfirewalls.k8s.ovn.org': ['list', 'watch'],
    'multi-networkpolicies.k8s.cni.cncf.io': ['list', 'watch'],
    'endpointslices.discovery.k8s.io': ['list', 'watch'],
    'tokenreviews.authentication.k8s.io': ['create'],
    'subjectaccessreviews.authorization.k8s.io': ['create'],
    'allocations/pods.k8s.ovn.org': ['update'],
  },
  [CLUSTER_MANAGER]: {
    events: ['create', 'patch'],
    namespaces: ['list', 'watch'],
    'network-attachment-definitions.k8s.cni.cncf.io': ['create', 'delete', 'get', 'list', 'patch', 'watch'],
    'ipamclaims.k8s.cni.cncf.io': ['get', 'list', 'patch', 'watch'],
    'ipamclaims/status.k8s.cni.cncf.io': ['patch'],
    'networkidpools.k8s.ovn.org': ['create', 'get', 'update'],
    'nodenetworkreports.k8s.ovn.org': ['list', 'watch'],
    nodes: ['get', 'list', 'patch', 'watch'],
    'nodes/status': ['patch'],
    pods: ['get', 'list', 'patch', 'watch'],
    'endpointslices.discovery.k8s.io': ['create', 'delete', 'get', 'list', 'patch', 'watch'],
    'networkpolicies.networking.k8s.io': ['list', 'watch'],
    'adminnetworkpolicies.policy.networking.k8s.io': ['list', 'watch'],
    'baselineadminnetworkpolicies.policy.networking.k8s.io': ['list', 'watch'],
    'clusternetworkpolicies.policy.networking.k8s.io': ['list', 'watch'],
    'egressfirewalls.k8s.ovn.org': ['list', 'watch'],
    'egressfirewalls/status.k8s.ovn.org': ['patch'],
    'multi-networkpolicies.k8s.cni.cncf.io': ['list', 'watch'],
    'services/finalizers': ['update'],
    'tokenreviews.authentication.k8s.io': ['create'],
    'subjectaccessreviews.authorization.k8s.io': ['create'],
    'userdefinednetworks.k8s.ovn.org': ['get', 'list', 'patch', 'watch'],
    'userdefinednetworks/finalizers.k8s.ovn.org': ['update'],
    'userdefinednetworks/status.k8s.ovn.org': ['patch'],
    'clusteruserdefinednetworks.k8s.ovn.org': ['get', 'list', 'patch', 'watch'],
    'clusteruserdefinednetworks/finalizers.k8s.ovn.org': ['update'],
    'clusteruserdefinednetworks/status.k8s.ovn.org': ['patch'],
    'allocations/networks.k8s.ovn.org': ['update'],
    'allocations/nodes.k8s.ovn.org': ['update'],
    'allocations/pods.k8s.ovn.org': ['update'],
  },
};

/** In the namespace of the installation. */
export const LEASE_VERBS: readonly string[] = ['get', 'update'];

/** What who installs makes. */
export const INSTALLED: readonly string[] = [
  'customresourcedefinitions.apiextensions.k8s.io',
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'daemonsets.apps',
  'deployments.apps',
];
