/** A cluster for all tests of a file: up before them, down after them, and then nothing of it may be left. */
import { afterAll, beforeAll, expect } from 'vitest';
import {
  API_KINDS,
  type ApiKind,
  KUBELET_KINDS,
  type KubeletKind,
  type ManifestObject,
  type Sandbox,
  type SandboxOptionsInput,
  startSandbox,
} from '../../../../sandbox/index.ts';
import { namespacesOf, untilNothingIsLeft } from '../../../../sandbox/leaks.ts';
import { readPods } from '../../../oracles/reachability/measure.ts';
import type { ReachabilityPod } from '../../../oracles/reachability/types.ts';
import { refusedFlows } from './refused-flows.ts';

/**
 * How networks get onto nodes where the test does not say so itself (docs/testing.md, "On demand"); default: the agent's. A
 * short grace, as tests wait for it.
 */
const RENDERINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  always: { UDN_NETWORK_RENDERING: 'always' },
  'on-demand': { UDN_NETWORK_RENDERING: 'on-demand', UDN_NETWORK_GRACE: '2' },
};

/** Undefined: as the agent does it by default. @throws Error when there is no such way */
export const networkRendering = (): string | undefined => {
  const { UDN_E2E_RENDERING: rendering } = process.env;
  if (rendering === undefined || rendering === '') return undefined;
  if (rendering in RENDERINGS) return rendering;
  throw new Error(`UDN_E2E_RENDERING must be one of ${Object.keys(RENDERINGS).join(', ')}, not "${rendering}"`);
};

/** Which API server clusters have where the test does not say so itself. */
const apiKind = (): ApiKind | undefined => {
  const { UDN_E2E_API: api } = process.env;
  if (api === undefined || api === '') return undefined;
  const known = API_KINDS.find((kind) => kind === api);
  if (known !== undefined) return known;
  throw new Error(`UDN_E2E_API must be one of ${API_KINDS.join(', ')}, not "${api}"`);
};

/** Whose kubelets clusters have where the test does not say so itself: real ones bring a real API server. */
const kubeletKind = (): KubeletKind | undefined => {
  const { UDN_E2E_KUBELET: kubelet } = process.env;
  if (kubelet === undefined || kubelet === '') return undefined;
  const known = KUBELET_KINDS.find((kind) => kind === kubelet);
  if (known !== undefined) return known;
  throw new Error(`UDN_E2E_KUBELET must be one of ${KUBELET_KINDS.join(', ')}, not "${kubelet}"`);
};

/** In seconds. A machine that emulates a guest's processors, and does other things, is slow: but not stuck. */
const UP_PATIENCE = 300;

/** @throws SandboxError */
export const startCluster = (options: SandboxOptionsInput): Promise<Sandbox> =>
  startSandbox({
    timeoutSeconds: UP_PATIENCE,
    api: apiKind(),
    kubelet: kubeletKind(),
    ...options,
    settings: { ...RENDERINGS[networkRendering() ?? ''], ...options.settings },
  });

/** Call it where tests are declared. @returns what gives the sandbox, once tests run */
export const useCluster = (options: SandboxOptionsInput & { readonly name: string }): (() => Sandbox) => {
  let sandbox: Sandbox | undefined;
  beforeAll(
    async () => {
      sandbox = await startCluster(options);
    },
    ((options.timeoutSeconds === undefined ? UP_PATIENCE : Number(options.timeoutSeconds)) + 60) * 1000,
  );
  afterAll(async () => {
    const namespaces = await namespacesOf(options.name);
    const refused = await refusedFlows(options.name);
    await sandbox?.down();
    await untilNothingIsLeft(options.name, namespaces);
    expect(refused).toEqual([]);
  });
  return () => {
    if (sandbox === undefined) throw new Error('the cluster is not up');
    return sandbox;
  };
};

const SECONDS = { timeoutSeconds: 30 };

/** Applies the objects and waits for their networks and pods. */
export const applyAndWait = async (sandbox: Sandbox, manifests: readonly ManifestObject[]): Promise<void> => {
  const objects = await sandbox.objects();
  await objects.apply(manifests);
  await Promise.all(
    manifests.map(async ({ kind, metadata: { namespace, name = '' } }) => {
      const key = namespace === undefined ? name : `${namespace}/${name}`;
      if (kind.endsWith('UserDefinedNetwork')) await objects.wait(kind, key, 'condition=NetworkCreated', SECONDS);
      if (kind === 'Pod') await objects.wait(kind, key, 'ready', SECONDS);
    }),
  );
};

/** Deletes pods and waits until they are gone. @param pods `namespace/name` */
export const deletePods = async (sandbox: Sandbox, ...pods: readonly string[]): Promise<void> => {
  const manifests = pods.map((key): ManifestObject => {
    const [namespace = '', name = ''] = key.split('/');
    return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name } };
  });
  await (await sandbox.objects()).delete(manifests, SECONDS);
};

/** Deletes namespaces with all that is in them, but those of the cluster itself; for scenarios that share it. */
export const deleteTenants = async (sandbox: Sandbox): Promise<void> => {
  const objects = await sandbox.objects();
  const tenants = (await objects.list('Namespace')).filter(({ metadata: { name } }) => !isOfCluster(name));
  await objects.delete(
    tenants.map(({ metadata: { name } }) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    { timeoutSeconds: 60 },
  );
};

const isOfCluster = (namespace: string): boolean => /^(default|kube-.*|ovn-.*)$/.test(namespace);

/** @param key `namespace/name` */
export const readPod = async (sandbox: Sandbox, key: string): Promise<ReachabilityPod> => {
  const pod = (await readPods(await sandbox.objects())).find((one) => one.key === key);
  if (pod === undefined) throw new Error(`${key} does not run, or has no addresses`);
  return pod;
};
