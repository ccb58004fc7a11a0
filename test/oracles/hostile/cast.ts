/** Networks, pods and Services among which every battery is sent. */
import type { ManifestObject } from '../../../sandbox/index.ts';
import { hostNetworkPod, layer2, layer3, namespace, plainNamespace, pod } from '../../e2e/support/cluster/manifests.ts';
import { DEFAULT_TENANT } from './world.ts';

export const NODE = 'node-1';
export const OTHER_NODE = 'node-2';

/** Subnets that do not overlap, so that an address says whose it is; but those of twin, which are red's. */
const RED = ['10.80.0.0/16/24', 'fd00:80::/48/64'];
export const SUBNETS: Readonly<Record<string, readonly string[]>> = {
  red: RED,
  twin: RED,
  blue: ['10.81.0.0/16/24', 'fd00:81::/48/64'],
  green: ['10.82.0.0/16', 'fd00:82::/64'],
  gold: ['10.83.0.0/16', 'fd00:83::/64'],
};
/** Those with whose pods somebody attacks. */
const ATTACKERS = ['red', 'green', DEFAULT_TENANT];
export const TENANTS = [...Object.keys(SUBNETS), DEFAULT_TENANT];

/** One pod on each node, `a` and `c`, and one more beside each that attacks, `b` and `d`. */
export const PODS = TENANTS.flatMap((tenant) => {
  const names = ATTACKERS.includes(tenant) ? ['a', 'b', 'c', 'd'] : ['a', 'c'];
  return names.map((name) => `${tenant}/${name}`);
});
export const nodeOf = (key: string): string => (/\/[cd]$/.test(key) ? OTHER_NODE : NODE);

/** `namespace/name` of its host-network pod there. */
export const hostPodOf = (tenant: string, node: string): string => `${tenant}/host-on-${node}`;

const isSwitched = (subnets: readonly string[]): boolean => (subnets[0] ?? '').split('/').length === 2;

export const CAST: readonly ManifestObject[] = [
  ...Object.keys(SUBNETS).map((name) => namespace(name)),
  plainNamespace(DEFAULT_TENANT),
  ...Object.entries(SUBNETS).map(([tenant, subnets]) =>
    isSwitched(subnets) ? layer2(tenant, 'net', subnets) : layer3(tenant, 'net', subnets),
  ),
  ...PODS.map((key) => {
    const [tenant = '', name = ''] = key.split('/');
    return pod(tenant, name, nodeOf(key));
  }),
  ...['blue', DEFAULT_TENANT].flatMap((tenant) =>
    [NODE, OTHER_NODE].map((node) => hostNetworkPod(tenant, node, `host-on-${node}`)),
  ),
];
