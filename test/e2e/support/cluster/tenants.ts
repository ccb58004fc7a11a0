/** The tenants of the demo, for clusters of any size and of any families. */
import type { Family } from '../../../../net/ip.ts';
import type { ManifestObject } from '../../../../sandbox/index.ts';
import { clusterNetwork, layer2, layer3, namespace, plainNamespace, pod } from './manifests.ts';

export interface TenantOptions {
  readonly families: readonly Family[];
  readonly nodes: readonly string[];
}

const LAYER3: Readonly<Record<Family, string>> = { 4: '10.100.0.0/16/24', 6: 'fd00:10:100::/48/64' };
const LAYER2: Readonly<Record<Family, string>> = { 4: '10.200.0.0/16', 6: 'fd00:10:200::/64' };

/** By network, the namespaces that its pods are in. */
export const TENANTS: Readonly<Record<string, readonly string[]>> = {
  red: ['red'],
  blue: ['blue'],
  green: ['green'],
  gold: ['gold'],
  shop: ['shop', 'shop-data'],
  plain: ['plain'],
};

/**
 * Layer 3: red and blue, and shop over two namespaces, all with the same subnets. Layer 2: green and gold, with the same
 * subnets. plain is on the default network. Each has two pods on the first node, and one on each of the others.
 */
export const tenants = ({ families, nodes }: TenantOptions): ManifestObject[] => {
  const routed = families.map((family) => LAYER3[family]);
  const switched = families.map((family) => LAYER2[family]);
  return [
    ...['red', 'blue', 'green', 'gold'].map((name) => namespace(name)),
    ...['shop', 'shop-data'].map((name) => namespace(name, { team: 'shop' })),
    plainNamespace('plain'),
    ...['red', 'blue'].map((name) => layer3(name, 'net', routed)),
    ...['green', 'gold'].map((name) => layer2(name, 'net', switched)),
    clusterNetwork('shop', 'shop', routed),
    ...Object.entries(TENANTS).flatMap(([tenant, namespaces]) =>
      memberNodes(nodes).map((node, index) =>
        pod(namespaces[index % namespaces.length] ?? tenant, `${tenant}-${'abcdef'[index]}`, node),
      ),
    ),
  ];
};

/** The node of each of a tenant's pods. */
export const memberNodes = (nodes: readonly string[]): readonly string[] => [nodes[0] ?? '', ...nodes];
