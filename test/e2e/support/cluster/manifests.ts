/** Objects that the tests of faults make. */
import {
  IPAM_CLAIM_API_VERSION,
  NAD_API_VERSION,
  PRIMARY_NETWORK_LABEL,
  UDN_API_VERSION,
} from '../../../../api/names.ts';
import type { ManifestObject } from '../../../../sandbox/index.ts';

/** With the label that says: its pods have a primary network of their own. */
export const namespace = (name: string, labels: Readonly<Record<string, string>> = {}): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { [PRIMARY_NETWORK_LABEL]: '', ...labels } },
});

export const plainNamespace = (name: string): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});

/** @param subnets `CIDR/HOST-PREFIX` */
export const layer3 = (inNamespace: string, name: string, subnets: readonly string[]): ManifestObject =>
  network(inNamespace, name, { topology: 'Layer3', layer3: layer3Spec(subnets) });

export const layer2 = (inNamespace: string, name: string, subnets: readonly string[]): ManifestObject =>
  network(inNamespace, name, { topology: 'Layer2', layer2: { role: 'Primary', subnets } });

/** Secondary networks. @param subnets none: without IPAM @param more of `spec.layer2` */
export const secondaryLayer2 = (
  inNamespace: string,
  name: string,
  subnets: readonly string[],
  more: object = {},
): ManifestObject =>
  network(inNamespace, name, {
    topology: 'Layer2',
    layer2: { role: 'Secondary', ...(subnets.length === 0 ? { ipam: { mode: 'Disabled' } } : { subnets }), ...more },
  });

/** @param ofNetwork by its own name: `NAMESPACE_NAME` of a UserDefinedNetwork */
export const ipamClaim = (inNamespace: string, name: string, ofNetwork: string): ManifestObject => ({
  apiVersion: IPAM_CLAIM_API_VERSION,
  kind: 'IPAMClaim',
  metadata: { name, namespace: inNamespace },
  spec: { network: ofNetwork, interface: 'net1' },
});

/** @param subnets `CIDR/HOST-PREFIX` */
export const secondaryLayer3 = (inNamespace: string, name: string, subnets: readonly string[]): ManifestObject =>
  network(inNamespace, name, { topology: 'Layer3', layer3: { ...layer3Spec(subnets), role: 'Secondary' } });

/** A layer-3 network for all namespaces with the label `team=TEAM`. */
export const clusterNetwork = (name: string, team: string, subnets: readonly string[]): ManifestObject =>
  ofCluster(name, team, { topology: 'Layer3', layer3: layer3Spec(subnets) });

export const clusterLayer2 = (name: string, team: string, subnets: readonly string[]): ManifestObject =>
  ofCluster(name, team, { topology: 'Layer2', layer2: { role: 'Primary', subnets } });

/** @param localnet `spec.network.localnet` without its role @param vlan 0: untagged */
export const clusterLocalnet = (name: string, team: string, localnet: object, vlan = 0): ManifestObject =>
  ofCluster(name, team, {
    topology: 'Localnet',
    localnet: { role: 'Secondary', ...localnet, ...(vlan > 0 && { vlan: { mode: 'Access', access: { id: vlan } } }) },
  });

/** A NAD as an administrator writes it. @param config of `spec.config`, an object or any text */
export const nad = (inNamespace: string, name: string, config: object | string): ManifestObject => ({
  apiVersion: NAD_API_VERSION,
  kind: 'NetworkAttachmentDefinition',
  metadata: { name, namespace: inNamespace },
  spec: { config: typeof config === 'string' ? config : JSON.stringify(config) },
});

/** @param annotations of the pod's author */
export const pod = (
  inNamespace: string,
  name: string,
  nodeName: string,
  annotations: Readonly<Record<string, string>> = {},
): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: inNamespace, annotations },
  spec: { nodeName, terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image: 'toolbox' }] },
});

/** `host`, with the node's own network, which runs no server: its ports are the node's. */
export const hostNetworkPod = (inNamespace: string, nodeName: string, name = 'host'): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: inNamespace },
  spec: {
    nodeName,
    hostNetwork: true,
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'toolbox', command: ['sleep', 'infinity'] }],
  },
});

const network = (inNamespace: string, name: string, spec: object): ManifestObject => ({
  apiVersion: UDN_API_VERSION,
  kind: 'UserDefinedNetwork',
  metadata: { name, namespace: inNamespace },
  spec,
});

const ofCluster = (name: string, team: string, spec: object): ManifestObject => ({
  apiVersion: UDN_API_VERSION,
  kind: 'ClusterUserDefinedNetwork',
  metadata: { name },
  spec: { namespaceSelector: { matchLabels: { team } }, network: spec },
});

const layer3Spec = (subnets: readonly string[]): object => ({
  role: 'Primary',
  subnets: subnets.map((subnet) => {
    const [address, prefix, host] = subnet.split('/');
    return { cidr: `${address}/${prefix}`, hostSubnet: Number(host) };
  }),
});
