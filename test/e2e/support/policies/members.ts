/** Tenants on which NetworkPolicies are tested, their pods, and what these try. */
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import type { Expected } from '../../../oracles/policies/expected.ts';
import type { PolicyProtocol } from '../../../oracles/policies/types.ts';
import { readPods } from '../../../oracles/reachability/measure.ts';
import { clusterNetwork, layer2, layer3, namespace, plainNamespace, pod } from '../cluster/manifests.ts';
import { addressesOf } from '../packets/packets.ts';
import { backend, SERVED, service } from '../services/services.ts';
import { servingPod } from './manifests.ts';

/** Layer 3, layer 2, the default network. */
export const POLICY_TENANTS = ['red', 'green', 'plain'] as const;
export type PolicyTenant = (typeof POLICY_TENANTS)[number];

const LAYER3 = ['10.91.0.0/16/24', 'fd00:91::/48/64'];
/** Of the pod `many`, whose port with the name `web` is the first of them. */
export const MANY_PORTS = [8090, 8091, 8095] as const;

export interface Member {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  readonly addresses: readonly string[];
}

const labelled = (manifest: ManifestObject, labels: Readonly<Record<string, string>>): ManifestObject => ({
  ...manifest,
  metadata: { ...manifest.metadata, labels },
});

/** As `friend` by its label, or not any more. */
export const clientPod = (tenant: string, name: string, isFriend: boolean): ManifestObject =>
  labelled(pod(tenant, `${tenant}-${name}`, name === 'client' ? 'node-1' : 'node-2'), {
    ...{ app: 'client', role: isFriend ? 'friend' : 'stranger' },
  });

/** A server on node-1 with the label `app: web`, or another one. */
export const serverPod = (tenant: string, app = 'web'): ManifestObject =>
  backend(tenant, `${tenant}-server`, 'node-1', app);

const ofTenant = (tenant: string): ManifestObject[] => [
  clientPod(tenant, 'client', false),
  clientPod(tenant, 'friend', true),
  serverPod(tenant),
  backend(tenant, `${tenant}-other`, 'node-2', 'other'),
  servingPod(tenant, `${tenant}-many`, 'node-2', {
    labels: { app: 'many' },
    ports: MANY_PORTS,
    named: [{ name: 'web', protocol: 'TCP', port: MANY_PORTS[0] }],
    hostname: `${tenant}-many`,
  }),
  service(tenant, 'server', { app: 'web' }),
  service(tenant, 'other', { app: 'other' }),
];

/** blue has the addresses of red and more pods; shop is one network over two namespaces. */
export const POLICY_MANIFESTS: readonly ManifestObject[] = [
  ...['red', 'green', 'blue'].map((name) => namespace(name)),
  plainNamespace('plain'),
  ...['shop', 'shop-data'].map((name) => namespace(name, { team: 'shop', tier: name })),
  ...['red', 'blue'].map((name) => layer3(name, 'net', LAYER3)),
  layer2('green', 'net', ['10.92.0.0/16', 'fd00:92::/64']),
  clusterNetwork('shop', 'shop', LAYER3),
  ...POLICY_TENANTS.flatMap(ofTenant),
  ...['1', '2', '3', '4'].map((index) => pod('blue', `blue-${index}`, 'node-1')),
  pod('shop', 'shop-web', 'node-1'),
  pod('shop', 'shop-neighbour', 'node-2'),
  pod('shop-data', 'shop-data-client', 'node-2'),
];

export const readMembers = async (sandbox: Sandbox): Promise<ReadonlyMap<string, Member>> => {
  const pods = await readPods(await sandbox.objects());
  return new Map(
    pods.map((one) => {
      const [inNamespace = '', name = ''] = one.key.split('/');
      return [name, { namespace: inNamespace, name, key: one.key, addresses: addressesOf(one) }];
    }),
  );
};

export type Port = readonly [protocol: PolicyProtocol, port: number];
/** What every pod answers that has no command of its own. */
export const USUAL_PORTS: readonly Port[] = [
  ['TCP', SERVED.TCP],
  ['UDP', SERVED.UDP],
];

/** At each address of the receiver. */
export const attempts = (
  from: Member,
  to: Member,
  isAllowed: boolean,
  ports: readonly Port[] = USUAL_PORTS,
): Expected[] => attemptsAt(from, to.addresses, isAllowed ? to.name : undefined, ports);

export const attemptsAt = (
  from: Member,
  addresses: readonly string[],
  answeredBy: string | undefined,
  ports: readonly Port[],
): Expected[] =>
  addresses.flatMap((address) =>
    ports.map(([protocol, port]): Expected => ({ from, address, protocol, port, answeredBy, why: 'as the test says' })),
  );

/** Ready by probes of its kubelet over TCP and HTTP, and started again where one of them is not answered. */
export const probedPod = (tenant: string): ManifestObject => {
  const made = pod(tenant, `${tenant}-probed`, 'node-1');
  const every = { periodSeconds: 1, failureThreshold: 3 };
  const container = {
    ...{ name: 'main', image: 'toolbox' },
    startupProbe: { tcpSocket: { port: 8082 }, ...every, failureThreshold: 30 },
    readinessProbe: { httpGet: { path: '/healthz', port: SERVED.TCP }, ...every },
  };
  return { ...made, spec: { ...(made['spec'] as object), containers: [container] } };
};
