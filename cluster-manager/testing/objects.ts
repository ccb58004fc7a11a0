/** Objects as an API server would send them, for tests. */
import { IPAM_CLAIM_API_VERSION, NAD_API_VERSION, PRIMARY_NETWORK_LABEL, UDN_API_VERSION } from '../../api/names.ts';

type Fields = Readonly<Record<string, unknown>>;

interface TestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string } & Fields;
  readonly [field: string]: unknown;
}

const OLD = '2026-01-01T00:00:00Z';

export const namespace = (name: string, labels: Readonly<Record<string, string>> = {}): TestObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'kubernetes.io/metadata.name': name, ...labels } },
});

/** With the label that asks for a primary network. */
export const tenant = (name: string, labels: Readonly<Record<string, string>> = {}): TestObject =>
  namespace(name, { [PRIMARY_NETWORK_LABEL]: '', ...labels });

export const node = (
  name: string,
  annotations: Readonly<Record<string, string>> = {},
  metadata: Fields = {},
): TestObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, creationTimestamp: OLD, annotations, ...metadata },
});

export const pod = (key: string, metadata: Fields = {}, spec: Fields = {}, status: Fields = {}): TestObject => {
  const [ns = '', name = ''] = key.split('/');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: ns, name, uid: `uid-${key}`, creationTimestamp: OLD, ...metadata },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'toolbox' }], ...spec },
    status,
  };
};

export const layer2Udn = (key: string, subnets: readonly string[], config: Fields = {}): TestObject =>
  udn(key, { topology: 'Layer2', layer2: { role: 'Primary', subnets, ...config } });

export const layer3Udn = (key: string, cidrs: readonly string[], config: Fields = {}): TestObject =>
  udn(key, { topology: 'Layer3', layer3: { role: 'Primary', subnets: cidrs.map((cidr) => ({ cidr })), ...config } });

export const udn = (key: string, spec: unknown, metadata: Fields = {}): TestObject => {
  const [ns = '', name = ''] = key.split('/');
  return {
    apiVersion: UDN_API_VERSION,
    kind: 'UserDefinedNetwork',
    metadata: { namespace: ns, name, ...metadata },
    spec,
  };
};

export const cudn = (name: string, selector: unknown, network: unknown, metadata: Fields = {}): TestObject => ({
  apiVersion: UDN_API_VERSION,
  kind: 'ClusterUserDefinedNetwork',
  metadata: { name, ...metadata },
  spec: { namespaceSelector: selector, network },
});

export const nad = (key: string, config: unknown, metadata: Fields = {}): TestObject => {
  const [ns = '', name = ''] = key.split('/');
  return {
    apiVersion: NAD_API_VERSION,
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: ns, name, creationTimestamp: OLD, ...metadata },
    spec: { config: typeof config === 'string' ? config : JSON.stringify(config) },
  };
};

export const ipamClaim = (
  key: string,
  network: string,
  fields: Fields = {},
  metadata: Fields = {},
  status?: Fields,
): TestObject => {
  const [ns = '', name = ''] = key.split('/');
  return {
    apiVersion: IPAM_CLAIM_API_VERSION,
    kind: 'IPAMClaim',
    metadata: { namespace: ns, name, ...metadata },
    spec: { network, interface: 'net1', ...fields },
    ...(status !== undefined && { status }),
  };
};

/** What a pod asks of its primary network. */
export const askPrimary = (fields: Fields): Fields => ({
  annotations: {
    'v1.multus-cni.io/default-network': JSON.stringify([{ namespace: 'ovn-kubernetes', name: 'default', ...fields }]),
  },
});

/** The configuration of a network of ours. */
export const netConf = (key: string, network: string, fields: Fields = {}): Fields => ({
  cniVersion: '1.1.0',
  type: 'ovn-k8s-cni-overlay',
  name: network,
  netAttachDefName: key,
  topology: 'layer2',
  role: 'primary',
  subnets: '100.200.0.0/16',
  ...fields,
});
