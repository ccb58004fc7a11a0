/** The API's objects of a cluster with many tenants, as the cluster manager and the agents have annotated them. Pure. */

import { formatL3GatewayConfig } from '../../api/annotations/l3-gateway-config.ts';
import {
  CNI_PLUGIN_TYPE,
  NAD_ANNOTATIONS,
  NODE_ANNOTATIONS,
  POD_ANNOTATIONS,
  PRIMARY_NETWORK_LABEL,
} from '../../api/names.ts';
import type { KubeObject } from '../../kube/types.ts';
import { parseCidr, parseInterfaceAddress, subnetAt } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { parseMac } from '../../net/mac.ts';

/** The one that is rendered. */
export const LOCAL_NODE = 'node-1';

/** Nodes, namespaces, NADs and pods: two nodes, and the pods all on the first. */
export const clusterObjects = (networks: number, podsOfEach: number, gateways?: 'with gateways'): KubeObject[] => {
  const tenants = Array.from({ length: networks }, (_, index) => index + 1);
  return [
    ...[1, 2].map((node) => withGateway(nodeObject(node, tenants), node, gateways !== undefined)),
    ...tenants.flatMap((tenant) => [
      namespaceObject(tenant),
      nadObject(tenant),
      ...Array.from({ length: podsOfEach }, (_, index) => podObject(tenant, index)),
    ]),
  ];
};

/** With addresses of its node's subnets: a pod with others has no port. @param index of the pod among those of its tenant, below 128 */
export const podObject = (tenant: number, index: number, name = `web-7d9c5b6f4d-${index}`): KubeObject => {
  const namespace = namespaceOf(tenant);
  const number = tenant * 128 + index;
  const [high, low] = [(number >> 8) & 255, number & 255];
  const networks = {
    default: entry(
      `10.${128 + (number >> 16)}.${high}.${low}`,
      15,
      `fd00:10:128:1::${tenant.toString(16)}:${index.toString(16)}`,
      'infrastructure-locked',
    ),
    [`${namespace}/net`]: entry(`10.20.0.${index + 3}`, 24, `fd00:20::${(index + 3).toString(16)}`, 'primary'),
  };
  return {
    kind: 'Pod',
    metadata: {
      ...identity(namespace, name),
      annotations: { [POD_ANNOTATIONS.networks]: JSON.stringify(networks) },
    },
    spec: { nodeName: LOCAL_NODE, containers: [{ name: 'main', image: 'registry.example/web:1' }] },
    status: { phase: 'Running' },
  };
};

export const namespaceOf = (tenant: number): string => `tenant-${tenant}`;

const identity = (namespace: string | undefined, name: string) => ({
  ...(namespace !== undefined && { namespace }),
  name,
  uid: `uid-of-${namespace}-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});

const entry = (ipv4: string, length: number, ipv6: string, role: string) => ({
  ip_addresses: [`${ipv4}/${length}`, `${ipv6}/64`],
  mac_address: `0a:58:${ipv4
    .split('.')
    .map((byte) => Number(byte).toString(16).padStart(2, '0'))
    .join(':')}`,
  ...(role === 'primary' && { gateway_ips: ['10.20.0.1', 'fd00:20::1'] }),
  role,
});

export const nodeObject = (node: number, tenants: readonly number[], chassisId?: string): KubeObject => {
  const ofTenants = [
    subnetAt(parseCidr('10.20.0.0/16'), 24, node - 1),
    subnetAt(parseCidr('fd00:20::/48'), 64, node - 1),
  ];
  const subnets = {
    default: [`10.${126 + 2 * node}.0.0/15`, `fd00:10:128:${node}::/64`],
    ...Object.fromEntries(tenants.map((tenant) => [`${namespaceOf(tenant)}_net`, ofTenants])),
  };
  return {
    kind: 'Node',
    metadata: {
      ...identity(undefined, `node-${node}`),
      annotations: {
        [NODE_ANNOTATIONS.id]: String(node + 1),
        [NODE_ANNOTATIONS.subnets]: JSON.stringify(subnets),
        [NODE_ANNOTATIONS.chassisId]: chassisId ?? `00000000-0000-4000-8000-00000000000${node}`,
        [NODE_ANNOTATIONS.encapIps]: JSON.stringify([`172.20.0.${node + 10}`]),
        [NODE_ANNOTATIONS.transitAddresses]: JSON.stringify({
          ipv4: `100.88.0.${node + 1}/16`,
          ipv6: `fd97::${node + 1}/64`,
        }),
      },
    },
    status: { addresses: [{ type: 'InternalIP', address: `172.20.0.${node + 10}` }] },
  };
};

/** Its gateway bridge, as the node's agent tells of it: each network gets a gateway router. */
const withGateway = (object: KubeObject, node: number, hasGateway: boolean): KubeObject => {
  if (!hasGateway) return object;
  const gateway = formatL3GatewayConfig({
    ...{ mode: 'shared', bridgeId: 'br-ex', interfaceId: `br-ex_node-${node}`, nodePortEnable: true, vlanId: 0 },
    mac: parseMac(`02:42:ac:14:00:0${node}`),
    ipAddresses: [parseInterfaceAddress(`172.20.0.${node + 10}/16`)],
    nextHops: [parseIp('172.20.0.1')],
  });
  const annotations = { ...object.metadata.annotations, [NODE_ANNOTATIONS.gatewayConfig]: gateway };
  return { ...object, metadata: { ...object.metadata, annotations } };
};

/** What a tenant's network is to its pods. */
export type TenantRole = 'primary' | 'secondary';

export const namespaceObject = (tenant: number, role: TenantRole = 'primary'): KubeObject => ({
  kind: 'Namespace',
  metadata: {
    ...identity(undefined, namespaceOf(tenant)),
    ...(role === 'primary' && { labels: { [PRIMARY_NETWORK_LABEL]: '' } }),
  },
});

/** Primary networks are of layer 3, secondary ones of layer 2, as most are. */
export const nadObject = (tenant: number, role: TenantRole = 'primary'): KubeObject => {
  const network = `${namespaceOf(tenant)}_net`;
  const config = {
    cniVersion: '1.1.0',
    type: CNI_PLUGIN_TYPE,
    name: network,
    netAttachDefName: `${namespaceOf(tenant)}/net`,
    ...(role === 'primary'
      ? { topology: 'layer3', role, subnets: '10.20.0.0/16/24,fd00:20::/48/64' }
      : { topology: 'layer2', role, subnets: '10.20.0.0/16,fd00:20::/64' }),
  };
  return {
    kind: 'NetworkAttachmentDefinition',
    metadata: {
      ...identity(namespaceOf(tenant), 'net'),
      annotations: { [NAD_ANNOTATIONS.networkId]: String(tenant), [NAD_ANNOTATIONS.networkName]: network },
    },
    spec: { config: JSON.stringify(config) },
  };
};
