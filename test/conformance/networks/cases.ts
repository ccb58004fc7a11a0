/**
 * Objects that an API server with our CRDs takes or refuses, and why. Every case of a network is asked of both kinds that
 * can describe it.
 */
export type NetworkKind = 'UserDefinedNetwork' | 'ClusterUserDefinedNetwork';

export type Fields = Readonly<Record<string, unknown>>;

export interface ValidCase {
  readonly name: string;
  readonly kind: NetworkKind;
  readonly spec: Fields;
}

export interface InvalidCase extends ValidCase {
  /** What is to blame, from the object's root. */
  readonly field: string;
  /** A part of what the API server says. */
  readonly message: string;
}

export interface UpdateCase extends ValidCase {
  readonly after: Fields;
  /** Absent: the change is fine. */
  readonly refusal?: { readonly field: string; readonly message: string };
}

export type Expectation = readonly [field: string, message: string];

/** A network that both kinds know. @param field below the network */
export const refused = (name: string, network: Fields, field: string, message: string): InvalidCase[] => [
  { name: `UDN: ${name}`, kind: 'UserDefinedNetwork', spec: network, field: join('spec', field), message },
  ...refusedCluster(name, network, field, message),
];

/** A network that only the cluster-wide kind knows. */
export const refusedCluster = (name: string, network: Fields, field: string, message: string): InvalidCase[] => [
  {
    name: `CUDN: ${name}`,
    kind: 'ClusterUserDefinedNetwork',
    spec: clusterSpec(network),
    field: join('spec.network', field),
    message,
  },
];

/** What is beside the network is wrong. @param field from the object's root */
export const refusedSpec = (name: string, spec: Fields, field: string, message: string): InvalidCase[] => [
  { name: `CUDN: ${name}`, kind: 'ClusterUserDefinedNetwork', spec, field, message },
];

export const taken = (name: string, network: Fields): ValidCase[] => [
  { name: `UDN: ${name}`, kind: 'UserDefinedNetwork', spec: network },
  ...takenCluster(name, network),
];

export const takenCluster = (name: string, network: Fields, more: Fields = {}): ValidCase[] => [
  { name: `CUDN: ${name}`, kind: 'ClusterUserDefinedNetwork', spec: clusterSpec(network, more) },
];

/** @param refusal where below the network, and why; absent: it is fine */
export const changed = (name: string, before: Fields, after: Fields, refusal?: Expectation): UpdateCase[] => [
  {
    name: `UDN: ${name}`,
    kind: 'UserDefinedNetwork',
    spec: before,
    after,
    ...refusalBelow('spec', refusal),
  },
  ...changedCluster(name, before, after, refusal),
];

export const changedCluster = (name: string, before: Fields, after: Fields, refusal?: Expectation): UpdateCase[] => [
  {
    name: `CUDN: ${name}`,
    kind: 'ClusterUserDefinedNetwork',
    spec: clusterSpec(before),
    after: clusterSpec(after),
    ...refusalBelow('spec.network', refusal),
  },
];

export const clusterSpec = (network: Fields, more: Fields = {}): Fields => ({
  namespaceSelector: { matchLabels: { team: 'a' } },
  network,
  ...more,
});

export const layer3 = (config: Fields = {}, more: Fields = {}): Fields => ({
  topology: 'Layer3',
  layer3: { role: 'Primary', subnets: cidrs('10.20.0.0/16'), ...config },
  ...more,
});

export const layer2 = (config: Fields = {}, more: Fields = {}): Fields => ({
  topology: 'Layer2',
  layer2: { role: 'Primary', subnets: ['10.20.0.0/16'], ...config },
  ...more,
});

export const localnet = (config: Fields = {}): Fields => ({
  topology: 'Localnet',
  localnet: { role: 'Secondary', physicalNetworkName: 'tenant', subnets: ['192.168.0.0/16'], ...config },
});

export const cidrs = (...list: readonly (string | readonly [string, number])[]): Fields[] =>
  list.map((item) => (typeof item === 'string' ? { cidr: item } : { cidr: item[0], hostSubnet: item[1] }));

const refusalBelow = (root: string, refusal: Expectation | undefined): Pick<UpdateCase, 'refusal'> =>
  refusal === undefined ? {} : { refusal: { field: join(root, refusal[0]), message: refusal[1] } };

const join = (root: string, field: string): string => (field === '' ? root : `${root}.${field}`);
