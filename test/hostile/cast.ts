/** Networks, pods and Services among which every battery is sent. */
import type { ManifestObject } from '../../sandbox/index.ts';
import { hostNetworkPod, layer2, layer3, namespace, plainNamespace, pod } from '../e2e/support/manifests.ts';
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
export const TENANTS = [...Object.keys(SUBNETS), DEFAULT_TENANT];

/** One pod on each node, and one more beside each attacker, who is an `a`. */
export const PODS = TENANTS.flatMap((tenant) => {
  const names = ['red', 'green', DEFAULT_TENANT].includes(tenant) ? ['a', 'b', 'c'] : ['a', 'c'];
  return names.map((name) => `${tenant}/${name}`);
});
export const nodeOf = (key: string): string => (key.endsWith('/c') ? OTHER_NODE : NODE);

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
  ...['blue', DEFAULT_TENANT].map((tenant) => hostNetworkPod(tenant, NODE)),
];

/** Services with endpoints that are written by hand: who may make EndpointSlices names any address in them. */
export const SERVICES = [
  { name: `${DEFAULT_TENANT}/web`, port: 8081, internalTrafficPolicy: 'Cluster', names: 'plain/b', isLocked: false },
  { name: 'blue/web', port: 8081, internalTrafficPolicy: 'Cluster', names: 'blue/a', isLocked: false },
  { name: `${DEFAULT_TENANT}/trap`, port: 8081, internalTrafficPolicy: 'Cluster', names: 'red/b', isLocked: true },
  { name: `${DEFAULT_TENANT}/trap-local`, port: 8081, internalTrafficPolicy: 'Local', names: 'red/b', isLocked: true },
] as const;

type ServiceOfCast = (typeof SERVICES)[number];

/** @param addresses of the endpoint, one of each family */
export const serviceManifests = (service: ServiceOfCast, addresses: readonly string[]): readonly ManifestObject[] => {
  const [inNamespace = '', name = ''] = service.name.split('/');
  const ports = [
    { name: 'udp', protocol: 'UDP', port: service.port },
    { name: 'tcp', protocol: 'TCP', port: 8080 },
  ];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: inNamespace },
      spec: {
        ipFamilyPolicy: 'RequireDualStack',
        ipFamilies: ['IPv4', 'IPv6'],
        internalTrafficPolicy: service.internalTrafficPolicy,
        ports,
      },
    },
    ...addresses.map(
      (address): ManifestObject => ({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          name: `${name}-${address.includes(':') ? 'v6' : 'v4'}`,
          namespace: inNamespace,
          labels: { 'kubernetes.io/service-name': name },
        },
        addressType: address.includes(':') ? 'IPv6' : 'IPv4',
        endpoints: [{ addresses: [address], nodeName: nodeOf(service.names), conditions: { ready: true } }],
        ports,
      }),
    ),
  ];
};
