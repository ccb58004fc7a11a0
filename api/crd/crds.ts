/** The CRDs of this project, by the name of their file in `daemonset/crds/`. */
import { z } from 'zod';
import { cudnSpecSchema } from '../cluster-user-defined-network.ts';
import { EGRESS_FIREWALL_NAME, firewallSpecSchema, firewallStatusSchema } from '../egress-firewall.ts';
import { ipamClaimSpecSchema, ipamClaimStatusSchema } from '../ipam-claim.ts';
import { poolStatusSchema } from '../network-id-pool.ts';
import { networkStatusSchema } from '../network-status.ts';
import { reportStatusSchema } from '../node-network-report.ts';
import { udnSpecSchema } from '../user-defined-network.ts';
import { type CrdDescription, crdYaml, type PrinterColumn } from './definition.ts';
import { toStructural } from './structural.ts';

const AGE: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

const networkColumns = (spec: string): readonly PrinterColumn[] => [
  { name: 'Topology', type: 'string', jsonPath: `${spec}.topology` },
  { name: 'Role', type: 'string', jsonPath: `${spec}..role` },
  { name: 'Subnets', type: 'string', jsonPath: '.status.subnetSummary', description: 'Where pods get addresses from.' },
  { name: 'ID', type: 'integer', jsonPath: '.status.networkID', description: 'Network id, unique in the cluster.' },
  {
    name: 'Nodes',
    type: 'string',
    jsonPath: '.status.nodes.summary',
    description: 'Nodes that have programmed the network, of those that need it.',
  },
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  {
    name: 'State',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Reason of the condition Ready.',
  },
  AGE,
  { name: 'Pods', type: 'integer', jsonPath: '.status.pods', description: 'Pods that are attached.', priority: 1 },
  { name: 'VRF', type: 'string', jsonPath: '.status.vrf.name', description: "Of the hosts' routes.", priority: 1 },
  {
    name: 'Message',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].message',
    description: 'Conditions set by the cluster manager.',
    priority: 1,
  },
];

const userDefinedNetworks: CrdDescription = {
  group: 'k8s.ovn.org',
  version: 'v1',
  kind: 'UserDefinedNetwork',
  plural: 'userdefinednetworks',
  singular: 'userdefinednetwork',
  shortNames: ['udn'],
  categories: ['ovn-udn'],
  scope: 'Namespaced',
  description:
    'A network of one namespace, isolated from all others. The namespace of a primary network has the label k8s.ovn.org/primary-user-defined-network.',
  columns: networkColumns('.spec'),
  spec: toStructural(udnSpecSchema),
  status: toStructural(networkStatusSchema),
  required: ['spec'],
};

const clusterUserDefinedNetworks: CrdDescription = {
  group: 'k8s.ovn.org',
  version: 'v1',
  kind: 'ClusterUserDefinedNetwork',
  plural: 'clusteruserdefinednetworks',
  singular: 'clusteruserdefinednetwork',
  shortNames: ['cudn'],
  categories: ['ovn-udn'],
  scope: 'Cluster',
  description: 'One network that all selected namespaces share, isolated from all others.',
  columns: networkColumns('.spec.network'),
  spec: toStructural(cudnSpecSchema),
  status: toStructural(networkStatusSchema),
  required: ['spec'],
};

/** Of the Network Plumbing Working Group (multi-net-spec v1.3, section 3): clusters with Multus have it already. */
const networkAttachmentDefinitions: CrdDescription = {
  group: 'k8s.cni.cncf.io',
  version: 'v1',
  kind: 'NetworkAttachmentDefinition',
  plural: 'network-attachment-definitions',
  singular: 'network-attachment-definition',
  shortNames: ['net-attach-def'],
  categories: [],
  scope: 'Namespaced',
  description: 'How pods are attached to one network: a CNI configuration.',
  columns: [
    {
      name: 'Network',
      type: 'string',
      jsonPath: '.metadata.annotations.k8s\\.ovn\\.org/network-name',
      description: 'The user-defined network.',
    },
    { name: 'ID', type: 'string', jsonPath: '.metadata.annotations.k8s\\.ovn\\.org/network-id' },
    AGE,
  ],
  spec: toStructural(
    z
      .object({ config: z.string().optional().meta({ description: 'The CNI configuration, as JSON.' }) })
      .meta({ description: 'The attachment.' }),
  ),
  required: [],
};

/** Of the same group: clusters with virtual machines may have it already. */
const ipamClaims: CrdDescription = {
  group: 'k8s.cni.cncf.io',
  version: 'v1alpha1',
  kind: 'IPAMClaim',
  plural: 'ipamclaims',
  singular: 'ipamclaim',
  shortNames: [],
  categories: [],
  scope: 'Namespaced',
  description: 'Addresses of a network that outlive their pods.',
  columns: [
    { name: 'Network', type: 'string', jsonPath: '.spec.network' },
    { name: 'Interface', type: 'string', jsonPath: '.spec.interface' },
    { name: 'IPs', type: 'string', jsonPath: '.status.ips', description: 'The addresses that it owns.' },
    { name: 'Pod', type: 'string', jsonPath: '.status.ownerPod.name', description: 'Pod that uses them.' },
    AGE,
  ],
  spec: toStructural(ipamClaimSpecSchema),
  status: toStructural(ipamClaimStatusSchema),
  required: [],
};

/** Ours alone: no other project has it. */
const nodeNetworkReports: CrdDescription = {
  group: 'k8s.ovn.org',
  version: 'v1alpha1',
  kind: 'NodeNetworkReport',
  plural: 'nodenetworkreports',
  singular: 'nodenetworkreport',
  shortNames: ['nnr'],
  // `kubectl get ovn-udn` is about networks: tenants ask, too.
  categories: [],
  scope: 'Cluster',
  description:
    'What one node has of the networks: written by its agent when that changes, owned by the Node of the same name. Only the agent writes it.',
  columns: [
    { name: 'Ready', type: 'integer', jsonPath: '.status.networks.ready', description: 'Networks that are ready.' },
    {
      name: 'Pending',
      type: 'integer',
      jsonPath: '.status.networks.pending',
      description: 'Networks that are not ready yet.',
    },
    { name: 'Failed', type: 'integer', jsonPath: '.status.networks.failed', description: 'Networks that failed.' },
    {
      name: 'Failing',
      type: 'string',
      jsonPath: '.status.failedComponents[*].component',
      description: 'Components of the node that fail.',
    },
    { name: 'Rendering', type: 'string', jsonPath: '.status.rendering', description: 'Always or OnDemand.' },
    AGE,
    {
      name: 'Message',
      type: 'string',
      jsonPath: '.status.exceptions[0].message',
      description: 'Problem of the first network that is not ready.',
      priority: 1,
    },
  ],
  status: toStructural(reportStatusSchema),
  isReport: true,
  required: ['status'],
};

/** Ours alone, too. */
const networkIdPools: CrdDescription = {
  group: 'k8s.ovn.org',
  version: 'v1alpha1',
  kind: 'NetworkIdPool',
  plural: 'networkidpools',
  singular: 'networkidpool',
  shortNames: [],
  categories: [],
  scope: 'Cluster',
  description:
    'Which network ids may be in use: one object, written by the cluster manager before it assigns an id. If it is deleted or edited, the cluster manager waits for all nodes.',
  columns: [
    { name: 'Given', type: 'string', jsonPath: '.status.given', description: 'Ids that are in use, or may be.' },
    { name: 'Retired', type: 'string', jsonPath: '.status.retired[*].id', description: 'Of deleted networks.' },
    { name: 'Retirement', type: 'integer', jsonPath: '.status.retirement', description: 'How often ids were retired.' },
    AGE,
  ],
  status: toStructural(poolStatusSchema),
  isReport: true,
  required: ['status'],
};

/** Of ovn-kubernetes: clusters that move over have it already. */
const egressFirewalls: CrdDescription = {
  group: 'k8s.ovn.org',
  version: 'v1',
  kind: 'EgressFirewall',
  plural: 'egressfirewalls',
  singular: 'egressfirewall',
  shortNames: [],
  categories: [],
  scope: 'Namespaced',
  description:
    'What pods of the namespace may send to out of the cluster, on the network that they use. A namespace has one, by the name default.',
  columns: [{ name: 'EgressFirewall Status', type: 'string', jsonPath: '.status.status' }, AGE],
  onlyName: EGRESS_FIREWALL_NAME,
  spec: toStructural(firewallSpecSchema),
  status: toStructural(firewallStatusSchema),
  required: ['spec'],
};

/** As they are installed. */
export const CRDS: readonly CrdDescription[] = [
  userDefinedNetworks,
  clusterUserDefinedNetworks,
  networkAttachmentDefinitions,
  ipamClaims,
  nodeNetworkReports,
  networkIdPools,
  egressFirewalls,
];

/** Path from the repository's root → content. */
export const crdFiles = (): Readonly<Record<string, string>> =>
  Object.fromEntries(CRDS.map((crd) => [`daemonset/crds/${crd.group}_${crd.plural}.yaml`, crdYaml(crd)]));
