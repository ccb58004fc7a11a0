/** A tenant of each topology beside the default network, for tests of what all three are to do alike. */
import type { ManifestObject } from '../../../../sandbox/index.ts';
import { layer2, layer3, namespace, plainNamespace } from './manifests.ts';

/** Namespaces: `red` has a layer-3 network, `green` a layer-2 one, and `plain` is in the default network. */
export const TENANTS = ['red', 'green', 'plain'] as const;
export type Tenant = (typeof TENANTS)[number];

/** Namespaces and networks, dual-stack; objects of each test's own. */
export const tenantManifests = (): ManifestObject[] => [
  namespace('red'),
  namespace('green'),
  plainNamespace('plain'),
  layer3('red', 'net', ['10.76.0.0/16/24', 'fd00:76::/48/64']),
  layer2('green', 'net', ['10.77.0.0/16', 'fd00:77::/64']),
];
