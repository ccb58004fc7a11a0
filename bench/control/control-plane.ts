/**
 * A real API server for benchmarks: etcd, kube-apiserver and a controller manager as the sandbox starts them, with the
 * definitions, roles and admission policies of `daemonset/`. Who is measured asks with the cluster manager's own rights.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import { createHttpTransport } from '../../kube/transport/http-transport.ts';
import type { KubeClient } from '../../kube/types.ts';
import { CLUSTER_MANAGER_ACCOUNT, PROJECT_NAMESPACE } from '../../sandbox/api/kube/identities.ts';
import { requestToken } from '../../sandbox/api/kube/tokens.ts';
import { findArtifacts } from '../../sandbox/artifacts.ts';
import { type Sandbox, startSandbox } from '../../sandbox/index.ts';
import { namespacesOf, untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { inNamespace, readManifests } from '../../sandbox/objects/manifests.ts';

export interface ControlPlane extends AsyncDisposable {
  /** An administrator's. */
  readonly client: KubeClient;
  /** Files: with the cluster manager's credentials, and with an administrator's. */
  readonly kubeconfig: string;
  readonly administrators: string;
  /** For files of the benchmarks; goes with the control plane. */
  readonly folder: string;
  /** What the API server says of itself. */
  metrics(): Promise<string>;
}

/** What is applied before a cluster manager starts, beside the definitions, which the sandbox has applied. */
const MANIFESTS = ['namespace.yaml', 'cluster-manager-rbac.yaml', 'admission'];

export const startControlPlane = async (name: string, signal: AbortSignal): Promise<ControlPlane> => {
  signal.throwIfAborted();
  await using resources = new AsyncDisposableStack();
  const sandbox = await startSandbox({ name, nodes: 0, programs: 'api', api: 'kube' });
  resources.defer(() => takeDown(sandbox));
  const down = (): void => void sandbox.down();
  signal.addEventListener('abort', down, { once: true });
  resources.defer(() => signal.removeEventListener('abort', down));
  const folder = await mkdtemp(join(tmpdir(), 'bench-control-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  await applyManifests(sandbox);
  const { kubeconfig: administrators = '' } = await sandbox.status();
  const kubeconfig = join(folder, 'cluster-manager.kubeconfig');
  const client = connect(await loadConnection({ kubeconfig: administrators, env: {} }), { userAgent: 'bench' });
  resources.defer(() => client.close());
  const token = await requestToken(client, CLUSTER_MANAGER_ACCOUNT, undefined, signal);
  await writeFile(kubeconfig, withToken(await readFile(administrators, 'utf8'), token), { mode: 0o600 });
  const transport = createHttpTransport({ connection: await loadConnection({ kubeconfig: administrators, env: {} }) });
  resources.defer(() => transport.close());
  const owned = resources.move();
  return {
    client,
    kubeconfig,
    administrators,
    folder,
    metrics: async () => {
      const { body } = await transport.send({ method: 'GET', path: '/metrics', headers: {} }, signal);
      return await text(body);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};

/** @throws Error when something is left of it */
const takeDown = async (sandbox: Sandbox): Promise<void> => {
  const namespaces = await namespacesOf(sandbox.name);
  await sandbox.down();
  await untilNothingIsLeft(sandbox.name, namespaces);
};

const applyManifests = async (sandbox: Sandbox): Promise<void> => {
  const paths = MANIFESTS.map((name) => join(findArtifacts().root, 'daemonset', name));
  const manifests = (await Promise.all(paths.map(readManifests))).flat();
  await (await sandbox.objects()).apply(inNamespace(manifests, PROJECT_NAMESPACE));
};

const kubeconfigSchema = z.looseObject({ users: z.array(z.looseObject({ user: z.looseObject({}) })) });

const withToken = (kubeconfig: string, token: string): string => {
  const config = kubeconfigSchema.parse(parse(kubeconfig));
  return stringify({ ...config, users: config.users.map((one) => ({ ...one, user: { token } })) }, { lineWidth: 0 });
};
