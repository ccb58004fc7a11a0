/** On a real API server: which pods a kubelet would ask a registry for, and which get the userspace datapath. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isAlreadyExists } from '../../kube/errors.ts';
import { NAMESPACES, PODS, SERVICE_ACCOUNTS } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { eventually } from '../../test/conformance/kube/harness.ts';
import { type RealServer, startRealServer } from '../../test/conformance/kube/real-server.ts';
import { createObjects } from '../objects/objects.ts';
import { IMAGE_POLICY } from './image-policy.ts';
import { USERSPACE_POLICY } from './userspace-policy.ts';

const NAMESPACE = 'images';
let server: RealServer;
let client: KubeClient;

beforeAll(async () => {
  server = await startRealServer('test-image-policy', { definitions: false });
  client = await server.connect();
  await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  // A real server lets pods in only when it is there; a controller may have been quicker.
  await client
    .create(SERVICE_ACCOUNTS, { metadata: { namespace: NAMESPACE, name: 'default' } })
    .catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  await createObjects(client).apply([...IMAGE_POLICY, ...USERSPACE_POLICY]);
}, 120_000);
afterAll(async () => {
  await client?.delete(NAMESPACES, { name: NAMESPACE }).catch(() => {});
  await createObjects(client).delete([...IMAGE_POLICY, ...USERSPACE_POLICY], { timeoutSeconds: 10 });
  client?.close();
  await server?.close();
});

interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: string;
}

/** As the server has it. */
const made = async (spec: Readonly<Record<string, readonly Container[]>>) => {
  const metadata = { namespace: NAMESPACE, name: 'web' };
  return (await client.create(PODS, { metadata, spec }, { dryRun: true }))['spec'] as Readonly<
    Record<string, readonly Container[] | undefined>
  >;
};

const policies = (containers: readonly Container[] | undefined) =>
  containers?.map(({ name, image, imagePullPolicy }) => `${name} ${image} ${imagePullPolicy}`);

it('the image toolbox is never pulled, whatever container has it; others are as they are anywhere', async () => {
  const containers = [
    { name: 'main', image: 'toolbox' },
    { name: 'other', image: 'example.org/other' },
  ];
  await eventually(async () => {
    const { containers: found, initContainers } = await made({ containers });
    expect(policies(found)).toEqual(['main toolbox IfNotPresent', 'other example.org/other Always']);
    expect(initContainers ?? []).toEqual([]);
  });
  const before = [
    { name: 'first', image: 'toolbox' },
    { name: 'second', image: 'example.org/other:1' },
  ];
  const { initContainers } = await made({ containers, initContainers: before });
  expect(policies(initContainers)).toEqual(['first toolbox IfNotPresent', 'second example.org/other:1 IfNotPresent']);
});

it.each(['containers', 'initContainers'] as const)(
  'pods of Open vSwitch with their databases in %s get the userspace datapath beside what they have, and others do not',
  async (place) => {
    const variable = { name: 'OVN_SYSTEM_ID', value: 'node-1' };
    const database = { name: 'ovsdb-server', image: 'udn-ovn:1', env: [variable] };
    const others = [
      { name: 'ovs-vswitchd', image: 'udn-ovn:1', volumeMounts: [{ name: 'ovs', mountPath: '/run/openvswitch' }] },
      { name: 'northd', image: 'udn-ovn:1' },
    ];
    const spec = {
      ...(place === 'containers' ? { containers: [database, ...others] } : {}),
      ...(place === 'initContainers' ? { initContainers: [database], containers: others } : {}),
      volumes: [{ name: 'ovs', hostPath: { path: '/run/openvswitch' } }],
    };
    const dryRun = async (labels: Readonly<Record<string, string>>) => {
      const metadata = { namespace: NAMESPACE, name: 'ovn', labels };
      return (await client.create(PODS, { metadata, spec }, { dryRun: true }))['spec'] as OvnPod;
    };
    await eventually(async () => {
      const found = await dryRun({ 'app.kubernetes.io/name': 'udn-ovn' });
      const { env } = found[place]?.find(({ name }) => name === database.name) ?? {};
      expect(env).toEqual([variable, { name: 'OVN_DATAPATH', value: 'netdev' }]);
      expect(found.containers.map(({ name }) => name)).toEqual(spec.containers?.map(({ name }) => name));
      const mounts = (container: string) =>
        found.containers.find(({ name }) => name === container)?.volumeMounts?.map(({ mountPath }) => mountPath);
      expect(mounts('ovs-vswitchd')).toEqual(expect.arrayContaining(['/run/openvswitch', '/dev/net/tun']));
      expect(mounts('northd')).not.toContain('/dev/net/tun');
      expect(found.volumes).toContainEqual({ name: 'tun', hostPath: { path: '/dev/net/tun', type: 'CharDevice' } });
    });
    for (const labels of [{}, { 'app.kubernetes.io/name': 'udn-agent' }]) {
      expect(JSON.stringify(await dryRun(labels))).not.toMatch(/netdev|tun"/);
    }
  },
);

interface OvnContainer {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts?: readonly { readonly mountPath: string }[];
}

interface OvnPod {
  readonly containers: readonly OvnContainer[];
  readonly initContainers?: readonly OvnContainer[];
  readonly volumes: readonly unknown[];
}
