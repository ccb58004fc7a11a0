/** The embedded server as another client sees it: @kubernetes/client-node, whose types are those of the real API. */
import {
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  NetworkingV1Api,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { connectionOf, parseKubeconfig } from '../config/kubeconfig.ts';
import { startEmbeddedServer } from './server.ts';
import type { EmbeddedServer } from './types.ts';

const namespace = 'default';
let server: EmbeddedServer;
let config: KubeConfig;

beforeAll(async () => {
  server = await startEmbeddedServer({ listen: [{ host: '127.0.0.1', port: 0 }], token: 'secret' });
  config = new KubeConfig();
  // It wants this before it speaks plain HTTP.
  config.loadFromString(server.kubeconfig().replace('server:', 'insecure-skip-tls-verify: true\n      server:'));
});

afterAll(() => server.close());

it('the kubeconfig is understood alike', async () => {
  const text = server.kubeconfig();
  const mine = connectionOf(parseKubeconfig(text, 'kubeconfig'), { clock: createFakeClock() });
  expect(mine.server).toBe(config.getCurrentCluster()?.server);
  const headers: Record<string, string> = {};
  await config.applyToHTTPSOptions({ headers }).catch(() => {});
  expect(await mine.credentials.headers()).toEqual({ authorization: `Bearer ${config.getCurrentUser()?.token}` });
});

it('objects are created, read, changed and deleted', async () => {
  const core = config.makeApiClient(CoreV1Api);
  const spec = { containers: [{ name: 'a', image: 'example.org/a:1', ports: [{ containerPort: 80 }] }] };
  const created = await core.createNamespacedPod({
    namespace,
    body: { metadata: { name: 'a', labels: { app: 'a' } }, spec },
  });
  expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);
  expect(created.spec?.containers[0]?.ports?.[0]?.protocol).toBe('TCP');
  const body = { metadata: { annotations: { note: 'n' } } };
  const options = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
  const patched = await core.patchNamespacedPod({ name: 'a', namespace, body }, options);
  expect(patched.metadata?.annotations).toEqual({ note: 'n' });
  const { items, metadata } = await core.listNamespacedPod({ namespace, labelSelector: 'app in (a)', limit: 10 });
  expect(items.map((pod) => pod.metadata?.name)).toEqual(['a']);
  expect(metadata?.resourceVersion).toMatch(/^\d+$/);
  await core.deleteNamespacedPod({ name: 'a', namespace });
  await expect(core.readNamespacedPod({ name: 'a', namespace })).rejects.toMatchObject({ code: 404 });
});

it('objects are applied', async () => {
  const objects = KubernetesObjectApi.makeApiClient(config);
  const policy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'deny', namespace },
    spec: { podSelector: {} },
  };
  await objects.patch(policy, undefined, undefined, 'tests', true, PatchStrategy.ServerSideApply);
  const networking = config.makeApiClient(NetworkingV1Api);
  const stored = await networking.readNamespacedNetworkPolicy({ name: 'deny', namespace });
  expect(stored.spec?.policyTypes).toEqual(['Ingress']);
  expect(stored.metadata?.managedFields?.[0]?.manager).toBe('tests');
});

it('an informer hears of changes', async () => {
  const core = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
    core.listNamespacedConfigMap({ namespace }),
  );
  const heard: string[] = [];
  for (const verb of ['add', 'update', 'delete'] as const) {
    informer.on(verb, (object) => heard.push(`${verb} ${object.metadata?.name} ${object.data?.['n']}`));
  }
  informer.on('error', (error) => heard.push(`error ${String(error)}`));
  await informer.start();
  try {
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'c' }, data: { n: '1' } } });
    await core.replaceNamespacedConfigMap({
      name: 'c',
      namespace,
      body: { metadata: { name: 'c' }, data: { n: '2' } },
    });
    await core.deleteNamespacedConfigMap({ name: 'c', namespace });
    await expect.poll(() => heard).toEqual(['add c 1', 'update c 2', 'delete c 2']);
  } finally {
    await informer.stop();
  }
});
