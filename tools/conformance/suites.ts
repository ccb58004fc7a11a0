/** Which specs are run where, and which are not, with the reason that users read. Pure. */
import type { Need } from '../../sandbox/plan/options.ts';

export const SUITE_NAMES = ['default', 'layer3', 'layer2'] as const;
export type SuiteName = (typeof SUITE_NAMES)[number];

export interface Suite {
  readonly name: SuiteName;
  /** For people. */
  readonly title: string;
  /** Regular expressions of Go and of JavaScript alike, over full names of specs. */
  readonly focus: string;
  /** What namespaces of the suite get before anything else is in them. Undefined: pods stay on the default network. */
  readonly network: object | undefined;
  readonly cluster: ClusterNeeds;
}

export interface ClusterNeeds {
  /** Of the sandbox: clusters of several runs may be up at once. */
  readonly name: string;
  /** Of its kernel: it is a guest's, where this machine's lacks it. */
  readonly needs: readonly Need[];
  /** Specs of DNS and of proxies read from pods by the API server, which is on no node. */
  readonly egress: 'konnectivity' | 'none';
}

/** Specs find Services by name, and tenants' pods reach the DNS server only by the VRF of their network. */
const TENANTS: ClusterNeeds = {
  ...{ name: 'conformance-tenants', needs: ['vrf', 'kernel-datapath'], egress: 'none' },
};

/** Tenants have the same subnets, all of them: they must not notice each other. */
const SUBNETS = { ipv4: '10.200.0.0/16', ipv6: 'fd00:200::/48' };

export const SUITES: readonly Suite[] = [
  {
    name: 'default',
    title: 'Default network',
    focus: String.raw`\[sig-network\]`,
    network: undefined,
    cluster: { name: 'conformance', needs: [], egress: 'konnectivity' },
  },
  {
    name: 'layer3',
    title: 'Layer-3 tenants',
    focus: String.raw`\[sig-network\] Services `,
    cluster: TENANTS,
    network: {
      topology: 'Layer3',
      layer3: {
        role: 'Primary',
        subnets: [
          { cidr: SUBNETS.ipv4, hostSubnet: 24 },
          { cidr: SUBNETS.ipv6, hostSubnet: 64 },
        ],
      },
    },
  },
  {
    name: 'layer2',
    title: 'Layer-2 tenants',
    focus: String.raw`\[sig-network\] Services .*\[Conformance\]`,
    cluster: TENANTS,
    network: { topology: 'Layer2', layer2: { role: 'Primary', subnets: [SUBNETS.ipv4, SUBNETS.ipv6] } },
  },
];

export interface Exclusion {
  /** A regular expression of Go and of JavaScript alike, over full names of specs. */
  readonly pattern: string;
  readonly reason: string;
}

/** Specs that judge something that neither ovn-udn nor the cluster of the run has. */
export const EXCLUSIONS: readonly Exclusion[] = [
  { pattern: 'Netpol|NetworkPolic', reason: 'NetworkPolicies: not run yet' },
  { pattern: String.raw`\[Feature:LoadBalancer\]`, reason: 'need the load balancer of a cloud' },
  { pattern: String.raw`\[Provider:GCE\]`, reason: 'need a certain cloud' },
  { pattern: 'Internet connection', reason: 'need the Internet' },
  { pattern: String.raw`\[Feature:SCTPConnectivity\]`, reason: 'need a kernel with SCTP' },
  { pattern: String.raw`\[Feature:(?:PerformanceDNS|Networking-Performance)\]`, reason: 'measure performance' },
  { pattern: 'KubeProxy|kube-proxy', reason: 'of kube-proxy, which ovn-udn replaces' },
  { pattern: 'DNS configMap', reason: 'change the configuration of a DNS server that kubeadm has deployed' },
];

export const exclusionOf = (spec: string): Exclusion | undefined =>
  EXCLUSIONS.find(({ pattern }) => new RegExp(pattern).test(spec));

/** Whether a whole run of the suite runs the spec. */
export const isChosen = ({ focus }: Suite, spec: string): boolean =>
  new RegExp(focus).test(spec) && exclusionOf(spec) === undefined;
