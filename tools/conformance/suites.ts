/** Which specs are run where, and which are not, with the reason that users read. Pure. */
import type { Need } from '../../sandbox/plan/options.ts';

export const SUITE_NAMES = [
  ...(['default', 'layer3', 'layer2'] as const),
  ...(['policies', 'admin-policies', 'cluster-policies', 'cyclonus'] as const),
  ...(['policies-layer3', 'policies-layer2', 'cyclonus-layer3', 'cyclonus-layer2'] as const),
] as const;
export type SuiteName = (typeof SUITE_NAMES)[number];

export interface Suite {
  readonly name: SuiteName;
  /** For people. */
  readonly title: string;
  readonly program: SuiteProgram;
  /** Suites of one subject share a table of the page. */
  readonly subject: Subject;
  /** Regular expressions of Go and of JavaScript alike, over full names of specs. */
  readonly focus: string;
  readonly exclusions: readonly Exclusion[];
  /** What namespaces of the suite get before anything else is in them. Undefined: pods stay on the default network. */
  readonly network: SuiteNetwork | undefined;
  readonly cluster: ClusterNeeds;
}

/** Kubernetes' own specs, or a suite of another project. */
export type SuiteProgram = { readonly kind: 'kubernetes' } | NetworkPolicyApi | Cyclonus;

export interface NetworkPolicyApi {
  readonly kind: 'admin-policies' | 'cluster-policies';
}

export interface Cyclonus {
  readonly kind: 'cyclonus';
  /** Of the addresses that pods are asked by. */
  readonly family: 4 | 6;
}

export const SUBJECTS = [
  'Services, DNS and the rest',
  'Policies',
  'Policies of administrators',
  'Policies that cyclonus generates',
] as const;
export type Subject = (typeof SUBJECTS)[number];

export interface SuiteNetwork {
  /** Of a UserDefinedNetwork. */
  readonly spec: object;
  /** Every namespace has one of its own, or all share one. */
  readonly per: 'namespace' | 'suite';
}

export interface Exclusion {
  /** A regular expression of Go and of JavaScript alike, over full names of specs. */
  readonly pattern: string;
  readonly reason: string;
}

export interface ClusterNeeds {
  /** Of the sandbox: clusters of several runs may be up at once. */
  readonly name: string;
  /** Of its kernel: it is a guest's, where this machine's lacks it. */
  readonly needs: readonly Need[];
  /** Specs of DNS and of proxies read from pods by the API server, which is on no node. */
  readonly egress: 'konnectivity' | 'none';
  /** Whom tenants' pods ask for names: kube-dns of the cluster, or a server outside of it, which every kernel has a way to. */
  readonly names: 'kube-dns' | 'outside';
}

/** Specs find Services by name, and tenants' pods reach the DNS server only by the VRF of their network. */
const TENANTS: ClusterNeeds = {
  ...{ name: 'conformance-tenants', needs: ['vrf', 'kernel-datapath'], egress: 'none', names: 'kube-dns' },
};

/**
 * The suite on this machine's kernel, whatever that lacks. What a spec finds there for want of VRFs is settled by a later run of it in a
 * guest, where single specs take minutes.
 */
export const onAnyKernel = (suite: Suite): Suite =>
  suite.cluster.needs.length === 0
    ? suite
    : { ...suite, cluster: { ...suite.cluster, name: `${suite.cluster.name}-here`, needs: [], names: 'outside' } };

/** Tenants have the same subnets, all of them: they must not notice each other. */
const SUBNETS = { ipv4: '10.200.0.0/16', ipv6: 'fd00:200::/48' };

const LAYER3 = {
  topology: 'Layer3',
  layer3: {
    role: 'Primary',
    subnets: [
      { cidr: SUBNETS.ipv4, hostSubnet: 24 },
      { cidr: SUBNETS.ipv6, hostSubnet: 64 },
    ],
  },
};
const LAYER2 = { topology: 'Layer2', layer2: { role: 'Primary', subnets: [SUBNETS.ipv4, SUBNETS.ipv6] } };

/** Specs that judge something that neither ovn-udn nor the cluster of the run has. */
const EXCLUSIONS: readonly Exclusion[] = [
  { pattern: String.raw`\[Feature:LoadBalancer\]`, reason: 'need the load balancer of a cloud' },
  { pattern: String.raw`\[Provider:GCE\]`, reason: 'need a certain cloud' },
  { pattern: 'Internet connection', reason: 'need the Internet' },
  { pattern: String.raw`\[Feature:SCTPConnectivity\]`, reason: 'need a kernel with SCTP' },
  { pattern: String.raw`\[Feature:(?:PerformanceDNS|Networking-Performance)\]`, reason: 'measure performance' },
  { pattern: 'KubeProxy|kube-proxy', reason: 'of kube-proxy, which ovn-udn replaces' },
  { pattern: 'DNS configMap', reason: 'change the configuration of a DNS server that kubeadm has deployed' },
];
const POLICIES: Exclusion = { pattern: 'Netpol|NetworkPolic', reason: 'NetworkPolicies: suites of their own' };

const KUBERNETES = { kind: 'kubernetes' } as const;
const NETWORKING = { program: KUBERNETES, subject: SUBJECTS[0], exclusions: [...EXCLUSIONS, POLICIES] };

/** Those of policies ask pods for ClusterIPs by exec, which any kernel and any path to the kubelets does for. */
const POLICY_CLUSTER = { name: 'conformance-policies', needs: [], egress: 'none', names: 'kube-dns' } as const;
const OF_POLICIES = {
  ...{ program: KUBERNETES, subject: SUBJECTS[1], exclusions: EXCLUSIONS },
  cluster: POLICY_CLUSTER,
} as const;
/** Suites of other projects as they are: what the kernel has no protocol for skips itself. */
const OTHER = { focus: '', exclusions: [], cluster: POLICY_CLUSTER } as const;
const OF_ADMINISTRATORS = { ...OTHER, subject: SUBJECTS[2], network: undefined } as const;
const OF_CYCLONUS = { ...OTHER, subject: SUBJECTS[3] } as const;
/** Without those that only write and read policies, which are about the API server. */
const CONNECTIONS = String.raw`\[sig-network\] Netpol .*NetworkPolicy between server and client`;

/** Of those that share a cluster the ones without a network come first: what makes tenants of namespaces stays. */
export const SUITES: readonly Suite[] = [
  {
    ...NETWORKING,
    name: 'default',
    title: 'Default network',
    focus: String.raw`\[sig-network\]`,
    network: undefined,
    cluster: { name: 'conformance', needs: [], egress: 'konnectivity', names: 'kube-dns' },
  },
  {
    ...NETWORKING,
    name: 'layer3',
    title: 'Layer-3 tenants',
    focus: String.raw`\[sig-network\] Services `,
    network: { spec: LAYER3, per: 'namespace' },
    cluster: TENANTS,
  },
  {
    ...NETWORKING,
    name: 'layer2',
    title: 'Layer-2 tenants',
    focus: String.raw`\[sig-network\] Services .*\[Conformance\]`,
    network: { spec: LAYER2, per: 'namespace' },
    cluster: TENANTS,
  },
  {
    ...OF_POLICIES,
    name: 'policies',
    title: 'Policies on the default network',
    focus: String.raw`\[sig-network\] Netpol `,
    network: undefined,
  },
  {
    ...OF_ADMINISTRATORS,
    name: 'admin-policies',
    title: 'Policies of administrators, v1alpha1',
    program: { kind: 'admin-policies' },
  },
  {
    ...OF_ADMINISTRATORS,
    name: 'cluster-policies',
    title: 'Policies of administrators, v1alpha2',
    program: { kind: 'cluster-policies' },
  },
  {
    ...OF_CYCLONUS,
    name: 'cyclonus',
    title: 'cyclonus on the default network, IPv4',
    program: { kind: 'cyclonus', family: 4 },
    network: undefined,
  },
  {
    ...OF_POLICIES,
    name: 'policies-layer3',
    title: 'Policies on a layer-3 network',
    focus: CONNECTIONS,
    network: { spec: LAYER3, per: 'suite' },
  },
  {
    ...OF_POLICIES,
    name: 'policies-layer2',
    title: 'Policies on a layer-2 network',
    focus: CONNECTIONS,
    network: { spec: LAYER2, per: 'suite' },
  },
  {
    ...OF_CYCLONUS,
    name: 'cyclonus-layer3',
    title: 'cyclonus on a layer-3 network, IPv4',
    program: { kind: 'cyclonus', family: 4 },
    network: { spec: LAYER3, per: 'suite' },
  },
  {
    ...OF_CYCLONUS,
    name: 'cyclonus-layer2',
    title: 'cyclonus on a layer-2 network, IPv6',
    program: { kind: 'cyclonus', family: 6 },
    network: { spec: LAYER2, per: 'suite' },
  },
];

export const exclusionOf = ({ exclusions }: Suite, spec: string): Exclusion | undefined =>
  exclusions.find(({ pattern }) => new RegExp(pattern).test(spec));

/** Whether a whole run of the suite runs the spec. */
export const isChosen = (suite: Suite, spec: string): boolean =>
  new RegExp(suite.focus).test(spec) && exclusionOf(suite, spec) === undefined;
