/** The CRDs of this project, by the name of their file in `daemonset/crds/`. */
import { z } from 'zod';
import { cudnSpecSchema } from '../cluster-user-defined-network.ts';
import { networkStatusSchema, udnSpecSchema } from '../user-defined-network.ts';
import { type CrdDescription, crdYaml, type PrinterColumn } from './definition.ts';
import { toStructural } from './structural.ts';

const READY: PrinterColumn = {
  name: 'Created',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="NetworkCreated")].status',
  description: 'Whether the network is there for pods.',
};

const MESSAGE: PrinterColumn = {
  name: 'Message',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="NetworkCreated")].message',
  description: 'What the cluster manager says about it.',
  priority: 1,
};

const AGE: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

const networkColumns = (spec: string): readonly PrinterColumn[] => [
  { name: 'Topology', type: 'string', jsonPath: `${spec}.topology` },
  { name: 'Role', type: 'string', jsonPath: `${spec}..role` },
  { name: 'Subnets', type: 'string', jsonPath: `${spec}..subnets`, description: 'Where pods get addresses from.' },
  READY,
  AGE,
  MESSAGE,
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
  specRequired: true,
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
  specRequired: true,
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
  specRequired: false,
};

/** Path from the repository's root → content. */
export const crdFiles = (): Readonly<Record<string, string>> => ({
  'daemonset/crds/k8s.ovn.org_userdefinednetworks.yaml': crdYaml(userDefinedNetworks),
  'daemonset/crds/k8s.ovn.org_clusteruserdefinednetworks.yaml': crdYaml(clusterUserDefinedNetworks),
  'daemonset/crds/k8s.cni.cncf.io_network-attachment-definitions.yaml': crdYaml(networkAttachmentDefinitions),
});
