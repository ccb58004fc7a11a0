/**
 * An API server on no node (docs/install.md): what it reaches by konnectivity, and by a route to the Service subnets, with real kubelets.
 * Two clusters of two minutes, and the build of konnectivity: of `make test-all`. Needs root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../../sandbox/api/kube/certificate.ts';
import type { ManifestObject, Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { layer3, namespace, plainNamespace } from './support/cluster/manifests.ts';
import { HAS_ALL_SCENARIOS } from './support/cluster/sample.ts';
import { backend, service } from './support/services/services.ts';
import { refusingWebhook, webhookNames } from './support/services/webhook.ts';

const NODES = ['node-1', 'node-2'] as const;
const SUBNETS = ['10.86.0.0/16/24', 'fd00:86::/48/64'];
const OPEN = '- { protocol: tcp, port: 8080 }';

const podsOf = (tenant: string): string[] => NODES.map((node) => `${tenant}-web-${node}`);
const authority = createAuthority('webhooks', Date.now());

const openPod = (manifest: ManifestObject): ManifestObject => ({
  ...manifest,
  metadata: { ...manifest.metadata, annotations: { 'k8s.ovn.org/open-default-ports': OPEN } },
});

/** Pods of the default network, pods of a tenant, of which one has an open port, and a webhook in each. */
const applyPods = async (sandbox: Sandbox): Promise<void> => {
  await applyAndWait(sandbox, [plainNamespace('plain'), namespace('red'), layer3('red', 'net', SUBNETS)]);
  await applyAndWait(
    sandbox,
    ['plain', 'red'].flatMap((tenant) => [
      service(tenant, 'web', { app: 'web' }),
      service(tenant, 'web6', { app: 'web', spec: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] } }),
      ...NODES.map((node) => backend(tenant, `${tenant}-web-${node}`, node, 'web')),
      ...refusingWebhook(authority, tenant, 'node-2'),
    ]),
  );
  await applyAndWait(sandbox, [openPod(backend('red', 'open', 'node-2', 'open'))]);
};

/** As the API server's own client sees it. @param path of the API */
const get = async (sandbox: Sandbox, path: string): Promise<string> =>
  (await sandbox.node('node-1', ['kubectl', '--request-timeout=8s', 'get', '--raw', path])).stdout.trim();

const podPath = (tenant: string, pod: string): string => `/api/v1/namespaces/${tenant}/pods/${pod}:8080/proxy/hostname`;
const servicePath = (tenant: string, name: string): string =>
  `/api/v1/namespaces/${tenant}/services/${name}:http/proxy/hostname`;

/** A ConfigMap with the label by which the webhook of the namespace is asked. @returns what the API server says */
const createJudged = async (sandbox: Sandbox, asked: string): Promise<string> => {
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'judged', labels: { judge: asked } } };
  const argv = ['sh', '-c', 'kubectl --request-timeout=20s create --namespace default -f - 2>&1 || true'];
  return (await sandbox.node('node-1', argv, { input: JSON.stringify(manifest) })).stdout;
};

const webhooksWork = (cluster: () => Sandbox): void => {
  it('asks a webhook behind a Service of the default network', async () => {
    await eventually(async () => expect(await createJudged(cluster(), 'plain')).toContain('the webhook refuses it'));
  });

  it('does not reach a webhook behind a Service of a tenant', async () => {
    expect(await createJudged(cluster(), 'red')).toContain(`failed calling webhook "${webhookNames('red').webhook}"`);
  });
};

describe.skipIf(!HAS_ALL_SCENARIOS)('by konnectivity, whose agents are pods, the API server', () => {
  const cluster = useCluster({
    ...{ name: 'test-egress-konnectivity', api: 'kube', kubelet: 'real', egress: 'konnectivity' },
    timeoutSeconds: 120,
  });
  beforeAll(() => applyPods(cluster()), 120_000);

  it.each(podsOf('plain'))('reaches a pod of the default network, wherever it runs: %s', async (pod) => {
    expect(await get(cluster(), podPath('plain', pod))).toBe(pod);
  });

  it.each(['web', 'web6'])(
    'reaches pods of the default network by their Service, over either family: %s',
    async (name) => {
      await eventually(async () => expect(podsOf('plain')).toContain(await get(cluster(), servicePath('plain', name))));
    },
  );

  it('reaches pods of a tenant at open ports only', async () => {
    expect(await get(cluster(), podPath('red', 'open'))).toBe('open');
    await expect(get(cluster(), podPath('red', 'red-web-node-1'))).rejects.toThrow();
    await expect(get(cluster(), servicePath('red', 'web'))).rejects.toThrow();
  });

  it('runs commands in pods, also of tenants, and shows their logs', async () => {
    for (const [tenant, pod] of [
      ['plain', 'plain-web-node-1'],
      ['red', 'red-web-node-2'],
    ] as const) {
      const of = ['--namespace', tenant, pod];
      expect((await cluster().node('node-1', ['kubectl', 'exec', ...of, '--', 'hostname'])).stdout.trim()).toBe(pod);
      await cluster().node('node-1', ['kubectl', 'logs', ...of]);
    }
  });

  webhooksWork(cluster);
});

describe.skipIf(!HAS_ALL_SCENARIOS)('by a route to the Service subnets, the API server', () => {
  const cluster = useCluster({
    ...{ name: 'test-egress-route', api: 'kube', kubelet: 'real', egress: 'route', timeoutSeconds: 120 },
  });
  beforeAll(() => applyPods(cluster()), 120_000);

  webhooksWork(cluster);

  it('reaches no pod by its own address, and so none by proxy', async () => {
    expect(await get(cluster(), '/readyz')).toBe('ok');
    await expect(get(cluster(), podPath('plain', 'plain-web-node-1'))).rejects.toThrow();
    await expect(get(cluster(), servicePath('plain', 'web'))).rejects.toThrow();
  });

  it('runs commands in pods', async () => {
    const argv = ['kubectl', 'exec', '--namespace', 'plain', 'plain-web-node-2', '--', 'hostname'];
    expect((await cluster().node('node-1', argv)).stdout.trim()).toBe('plain-web-node-2');
  });
});
