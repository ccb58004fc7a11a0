/** The objects that the benchmarks make: tenants with a primary layer-3 network each, and pods. Pure. */
import { PRIMARY_NETWORK_LABEL, UDN_API_VERSION } from '../../api/names.ts';
import { USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { NAMESPACES, NODES, PODS } from '../../kube/resources.ts';
import type { ObjectInput, ResourceType } from '../../kube/types.ts';
import { NODE } from './bench-node.ts';

export interface Made {
  readonly resource: ResourceType;
  readonly object: ObjectInput;
}

export const PLAIN_NAMESPACE = 'plain';
export const tenantName = (index: number): string => `tenant-${index}`;

export const plainNamespace = (): Made => ({ resource: NAMESPACES, object: { metadata: { name: PLAIN_NAMESPACE } } });

/** All tenants use the same addresses. */
export const tenant = (index: number): Made[] => tenantWith(index, SUBNETS);

/** Its subnets have parts for two nodes and no more. */
export const tenantOfTwoNodes = (index: number): Made[] =>
  tenantWith(index, [
    { cidr: '10.20.0.0/23', hostSubnet: 24 },
    { cidr: 'fd00:20::/63', hostSubnet: 64 },
  ]);

const SUBNETS: readonly Subnet[] = [
  { cidr: '10.20.0.0/16', hostSubnet: 24 },
  { cidr: 'fd00:20::/48', hostSubnet: 64 },
];

interface Subnet {
  readonly cidr: string;
  readonly hostSubnet: number;
}

const tenantWith = (index: number, subnets: readonly Subnet[]): Made[] => {
  const name = tenantName(index);
  return [
    { resource: NAMESPACES, object: { metadata: { name, labels: { [PRIMARY_NETWORK_LABEL]: '' } } } },
    {
      resource: USER_DEFINED_NETWORKS,
      object: {
        apiVersion: UDN_API_VERSION,
        kind: 'UserDefinedNetwork',
        metadata: { name: 'net', namespace: name },
        spec: {
          topology: 'Layer3',
          layer3: {
            role: 'Primary',
            subnets,
          },
        },
      },
    },
  ];
};

export const pod = (namespace: string, name: string): Made => ({
  resource: PODS,
  object: {
    metadata: { namespace, name },
    spec: { nodeName: NODE, containers: [{ name: 'main', image: 'toolbox' }] },
  },
});

/** A node that the API knows and whose agent has not come up: it has its part of networks, and no chassis in OVN. */
export const otherNode = (index: number): Made => ({
  resource: NODES,
  object: { metadata: { name: otherNodeName(index) } },
});

export const otherNodeName = (index: number): string => `elsewhere-${index}`;
