/** Two tenants with a primary network each: of both families, and of IPv4 alone; and namespaces of the default network. Pure. */
import { podPortName } from '../../agent/model/names.ts';
import { NODE_ANNOTATIONS, POD_ANNOTATIONS } from '../../api/names.ts';
import type { KubeObject } from '../../kube/types.ts';
import { nadObject, namespaceObject, namespaceOf, nodeObject } from '../render/objects.ts';
import { indexes, podObject, uidOf } from './objects.ts';
import type { Port } from './ovn-cluster.ts';

/** By the number of the tenant. */
export const DUAL = 1;
export const IPV4 = 2;
type Tenant = typeof DUAL | typeof IPV4;

export const TARGETS = 20;
/** A network has so many addresses on another node. */
export const TENANT_PEERS = 200;

export const tenantObjects = (): KubeObject[] => [
  ...[1, 2].map(tenantNode),
  ...[DUAL, IPV4].flatMap((tenant) => [
    namespaceObject(tenant),
    tenantNad(tenant),
    ...indexes(TARGETS).map((index) => tenantPod(tenant as Tenant, index, true)),
    ...indexes(TENANT_PEERS).map((index) => tenantPod(tenant as Tenant, index, false)),
  ]),
];

export const tenantPorts = (): Port[] =>
  [DUAL, IPV4].flatMap((tenant) => {
    const namespace = namespaceOf(tenant);
    return indexes(TARGETS).map((index) => {
      const name = nameOf(index, true);
      return { name: podPortName(`${namespace}/net`, namespace, name), uid: uidOf(namespace, name) };
    });
  });

const nameOf = (index: number, isLocal: boolean): string => `${isLocal ? 'target' : 'peer'}-${index}`;

const tenantNode = (node: number): KubeObject => {
  const object = nodeObject(node, [DUAL, IPV4]);
  const annotations = object.metadata.annotations ?? {};
  const subnets = JSON.parse(annotations[NODE_ANNOTATIONS.subnets] ?? '{}') as Record<string, string[]>;
  const name = `${namespaceOf(IPV4)}_net`;
  const changed = { ...subnets, [name]: subnets[name]?.slice(0, 1) };
  const text = JSON.stringify(changed);
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...annotations, [NODE_ANNOTATIONS.subnets]: text } },
  };
};

const tenantNad = (tenant: number): KubeObject => {
  const object = nadObject(tenant);
  if (tenant === DUAL) return object;
  const { config } = object['spec'] as { readonly config: string };
  const spec = { config: JSON.stringify({ ...(JSON.parse(config) as object), subnets: '10.20.0.0/16/24' }) };
  return { ...object, spec };
};

const tenantPod = (tenant: Tenant, index: number, isLocal: boolean): KubeObject => {
  const namespace = namespaceOf(tenant);
  const name = nameOf(index, isLocal);
  const number = 5_000 + tenant * 500 + index;
  const object = podObject({ namespace, name, number, isLocal, labels: { role: isLocal ? 'target' : 'peer' } });
  const annotations = object.metadata.annotations ?? {};
  const entries = JSON.parse(annotations[POD_ANNOTATIONS.networks] ?? '{}') as { readonly default: object };
  const host = index + 3;
  const third = isLocal ? 0 : 1;
  const own = {
    ip_addresses: [
      `10.20.${third}.${host}/24`,
      ...(tenant === DUAL ? [`fd00:20:0:${third}::${host.toString(16)}/64`] : []),
    ],
    mac_address: `0a:58:0a:14:0${third}:${host.toString(16).padStart(2, '0')}`,
    gateway_ips: [`10.20.${third}.1`, ...(tenant === DUAL ? [`fd00:20:0:${third}::1`] : [])],
    role: 'primary',
  };
  const networks = { default: { ...entries.default, role: 'infrastructure-locked' }, [`${namespace}/net`]: own };
  const text = JSON.stringify(networks);
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...annotations, [POD_ANNOTATIONS.networks]: text } },
  };
};
