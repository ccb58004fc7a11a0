/** A real API server with `daemonset/` applied to it, and clients of everybody who asks it for something. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../../../api/resources.ts';
import { NAMESPACES, NODES, PODS } from '../../../kube/resources.ts';
import type { KubeClient, KubeObject, ObjectInput, ResourceType } from '../../../kube/types.ts';
import { eventually, refusal } from '../../conformance/kube/harness.ts';
import { createKubectl } from '../../conformance/kube/kubectl.ts';
import { startRealServer } from '../../conformance/kube/real-server.ts';
import { connectAs, type User } from '../connect-as.ts';

export const PROJECT = 'ovn-udn';

export interface AdmissionCluster {
  /** May do everything. */
  readonly admin: KubeClient;
  /** As a service account. @param node that the token is bound to, as that of a pod on it is */
  account(namespace: string, name: string, node?: string): Promise<KubeClient>;
  /** As any user, who has the rights of that user. */
  impersonate(user: string, groups?: readonly string[]): Promise<KubeClient>;
  close(): Promise<void>;
}

/** With the nodes `node-1` and `node-2`, the namespaces `red` and `blue`, and a pod on each node and on none. */
export const startAdmissionCluster = async (name: string): Promise<AdmissionCluster> => {
  const server = await startRealServer(name);
  const clients: KubeClient[] = [];
  const text = await readFile(server.kubeconfig, 'utf8');
  const open = async (user: (before: User) => User): Promise<KubeClient> => {
    const client = await connectAs(text, user);
    clients.push(client);
    return client;
  };
  const admin = await open((user) => user);
  await install(text);
  await fill(admin);
  await untilEnforced(admin);
  return {
    admin,
    account: async (...spec) => {
      const token = await tokenOf(admin, ...spec);
      return await open(() => ({ token }));
    },
    impersonate: (as, groups = []) => open((user) => ({ ...user, as, 'as-groups': groups })),
    close: async () => {
      for (const client of clients) client.close();
      await server.close();
    },
  };
};

const install = async (kubeconfig: string): Promise<void> => {
  const kubectl = await createKubectl(kubeconfig);
  await kubectl.run('apply', '-k', 'daemonset', '--validate=strict', '--force-conflicts', '--server-side');
  await kubectl.run('wait', '--for=condition=Established', 'crd', '--all', '--timeout=10s');
  await kubectl.close();
};

const fill = async (admin: KubeClient): Promise<void> => {
  for (const name of ['node-1', 'node-2']) await admin.create(NODES, { metadata: { name } });
  for (const name of ['red', 'blue']) {
    await admin.create(NAMESPACES, { metadata: { name } });
    await eventually(() => admin.get(SERVICE_ACCOUNT, { namespace: name, name: 'default' }));
  }
  await admin.create(PODS, podOf('own', { nodeName: 'node-1' }));
  await admin.create(PODS, podOf('other', { nodeName: 'node-2' }));
  await admin.create(PODS, podOf('waiting', {}));
};

/** The API server learns of policies by watching: of this one, which is applied last, it learns after all others. */
const untilEnforced = (admin: KubeClient): Promise<unknown> =>
  eventually(() => {
    const body = { metadata: { labels: { 'k8s.ovn.org/primary-user-defined-network': '' } } };
    return refusal(admin.patch(NAMESPACES, { name: 'red' }, { type: 'merge', body }, { dryRun: true }));
  });

const tokenOf = async (admin: KubeClient, namespace: string, name: string, node?: string): Promise<string> => {
  const bound = node === undefined ? undefined : (await admin.get(NODES, { name: node })).metadata;
  const boundObjectRef = bound && { apiVersion: 'v1', kind: 'Node', name: bound.name, uid: bound.uid };
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600, ...(boundObjectRef && { boundObjectRef }) },
  };
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const answer = await admin.request({ method: 'POST', path, body });
  return z.object({ status: z.object({ token: z.string() }) }).parse(answer).status.token;
};

export const podOf = (
  name: string,
  spec: Readonly<Record<string, unknown>>,
  annotations: Readonly<Record<string, string>> = {},
): ObjectInput => ({
  metadata: { namespace: 'red', name, annotations },
  spec: { containers: [{ name: 'main', image: 'any' }], ...spec },
});

export const networkOf = (namespace: string, name: string): ObjectInput => ({
  metadata: { namespace, name },
  spec: { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.1.0.0/16'] } },
});

export const nadOf = (name: string, annotations: Readonly<Record<string, string>> = {}): ObjectInput => ({
  metadata: { namespace: 'red', name, annotations },
  spec: { config: JSON.stringify({ cniVersion: '1.1.0', type: 'bridge', name }) },
});

const core = (plural: string, kind: string): ResourceType => ({
  ...{ group: '', version: 'v1', plural, kind, namespaced: true },
});

export const SERVICE_ACCOUNT = core('serviceaccounts', 'ServiceAccount');

/** A merge patch of one of the objects of the tests. */
export type Change = (client: KubeClient, body: unknown, subresource?: string) => Promise<KubeObject>;

const patching =
  (resource: ResourceType, name: string, namespace?: string): Change =>
  (client, body, subresource) =>
    client.patch(resource, { namespace, name }, { type: 'merge', body }, { subresource });

export const node = (name: string): Change => patching(NODES, name);
export const pod = (name: string): Change => patching(PODS, name, 'red');
export const nad = (name: string): Change => patching(NETWORK_ATTACHMENT_DEFINITIONS, name, 'red');
export const udn = (namespace: string, name: string): Change => patching(USER_DEFINED_NETWORKS, name, namespace);

export const annotations = (entries: Readonly<Record<string, string | null>>) => ({
  metadata: { annotations: entries },
});

/** One thing that somebody tries. */
export interface Attempt {
  readonly name: string;
  readonly attempt: () => Promise<unknown>;
}

/** @param message what the refusal contains */
export interface Refused extends Attempt {
  readonly message: string;
}

export const byPolicy = (policy: string, message: string): string =>
  `ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request: ${message}`;
