/** The objects of the cluster, as a user handles them. */
import { isForbidden, isNotFound, isUnavailable } from '../../kube/errors.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../kube/resources.ts';
import type { KubeClient, KubeObject, ObjectRef, ResourceType } from '../../kube/types.ts';
import { untilAccount } from '../api/kube/readiness.ts';
import { SandboxError } from '../errors.ts';
import { type Condition, describeState, isMet, parseCondition } from './conditions.ts';
import { type ManifestObject, parseManifests } from './manifests.ts';
import { createResourceFinder, type KnownResource } from './resource-finder.ts';

export interface WaitOptions {
  /** On this machine's own kernel: a guest, which is slower, gets more. Default 60. */
  readonly timeoutSeconds?: number | undefined;
}

interface Limit {
  readonly timeoutSeconds: number;
}

export interface Objects {
  /**
   * Server-side apply, CRDs and Namespaces first; CRDs are waited for.
   * @param manifests YAML, or parsed
   * @returns what was applied, as `KIND NAMESPACE/NAME`
   */
  apply(manifests: string | readonly ManifestObject[]): Promise<string[]>;
  /** In reverse order; what is not there is fine. Resolves when everything is gone. Returns what was there. */
  delete(manifests: string | readonly ManifestObject[], options?: WaitOptions): Promise<string[]>;
  /** @param name `NAME` or `NAMESPACE/NAME`; the namespace `default` needs not be named */
  get(kind: string, name: string): Promise<KubeObject>;
  list(kind: string, namespace?: string): Promise<readonly KubeObject[]>;
  /**
   * @param condition `ready`, `deleted`, `condition=TYPE` or `condition=TYPE=STATUS`
   * @throws SandboxError ERR_SANDBOX_TIMEOUT with the object's conditions
   */
  wait(kind: string, name: string, condition: string, options?: WaitOptions): Promise<void>;
}

const FIELD_MANAGER = 'sandbox';
const CRD_TIMEOUT_SECONDS = 10;
const DEFAULT_TIMEOUT_SECONDS = 60;
const ACCOUNT_TIMEOUT_MS = 20_000;

/** @param slowdown how many times longer everything takes where the cluster is: what deadlines are multiplied by */
export const createObjects = (client: KubeClient, slowdown = 1): Objects => {
  const finder = createResourceFinder(client);
  const accountMs = ACCOUNT_TIMEOUT_MS * slowdown;
  const patient = ({ timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }: WaitOptions = {}): Limit => ({
    timeoutSeconds: timeoutSeconds * slowdown,
  });
  const resourceOf = ({ apiVersion, kind }: ManifestObject): Promise<KnownResource> => finder.byKind(apiVersion, kind);
  return {
    apply: async (manifests) => {
      const { first, rest } = inOrder(parsed(manifests));
      const applied: string[] = [];
      for (const object of first) applied.push(await applyObject(client, await resourceOf(object), object, accountMs));
      const limit = patient({ timeoutSeconds: CRD_TIMEOUT_SECONDS });
      await Promise.all(first.filter(isCrd).map((crd) => waitUntilEstablished(client, crd, limit)));
      finder.forget();
      for (const object of rest) applied.push(await applyObject(client, await resourceOf(object), object, accountMs));
      return applied;
    },
    delete: async (manifests, options) => {
      const { first, rest } = inOrder(parsed(manifests));
      const deleted: { readonly resource: KnownResource; readonly object: ManifestObject }[] = [];
      for (const object of [...first, ...rest].reverse()) {
        const resource = await resourceOf(object).catch(unlessAway);
        if (resource !== undefined && (await deleteObject(client, resource, object)))
          deleted.push({ resource, object });
      }
      const gone: Condition = { kind: 'deleted' };
      await Promise.all(
        deleted.map(({ resource, object }) =>
          waitFor(client, resource, refOf(resource, object), gone, patient(options)),
        ),
      );
      return deleted.map(({ resource, object }) => titleOf(object, resource));
    },
    get: async (kind, name) => {
      const resource = await finder.byName(kind);
      return await client.get(resource, parseRef(resource, name));
    },
    list: async (kind, namespace) => (await client.list(await finder.byName(kind), { namespace })).items,
    wait: async (kind, name, condition, options) => {
      const resource = await finder.byName(kind);
      await waitFor(client, resource, parseRef(resource, name), parseCondition(condition), patient(options));
    },
  };
};

/** What has no resource does not exist; but a server that does not answer says nothing about that. */
const unlessAway = (error: unknown): undefined => {
  if (isUnavailable(error)) throw error;
};

const parsed = (manifests: string | readonly ManifestObject[]): readonly ManifestObject[] =>
  typeof manifests === 'string' ? parseManifests(manifests, 'manifests') : manifests;

const inOrder = (objects: readonly ManifestObject[]): { first: ManifestObject[]; rest: ManifestObject[] } => ({
  first: objects.filter((object) => isCrd(object) || object.kind === 'Namespace'),
  rest: objects.filter((object) => !isCrd(object) && object.kind !== 'Namespace'),
});

const isCrd = ({ kind }: ManifestObject): boolean => kind === 'CustomResourceDefinition';

const refOf = ({ namespaced }: ResourceType, { metadata }: ManifestObject): ObjectRef => ({
  name: metadata.name ?? '',
  namespace: namespaced ? (metadata.namespace ?? 'default') : undefined,
});

/** `NAME` or `NAMESPACE/NAME`. */
const parseRef = ({ namespaced, kind }: ResourceType, text: string): ObjectRef => {
  const [name = '', namespace, ...more] = text.split('/').reverse();
  if (name === '' || namespace === '' || more.length > 0 || (namespace !== undefined && !namespaced)) {
    throw new SandboxError('ERR_SANDBOX_USAGE', `"${text}" is not the name of a ${kind}`);
  }
  return { name, namespace: namespaced ? (namespace ?? 'default') : undefined };
};

const titleOf = (object: ManifestObject, resource: ResourceType): string => {
  const { namespace, name } = refOf(resource, object);
  return `${object.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
};

/** @param accountMs how long the account of a pod's namespace is waited for */
const applyObject = async (
  client: KubeClient,
  resource: ResourceType,
  object: ManifestObject,
  accountMs: number,
): Promise<string> => {
  const ref = refOf(resource, object);
  const { namespace, ...metadata } = object.metadata;
  const body = {
    ...object,
    metadata: resource.namespaced ? { ...metadata, namespace: ref.namespace ?? '' } : metadata,
  };
  if (object.metadata.name === undefined) {
    const { metadata: made } = await client.create(resource, body, { fieldManager: FIELD_MANAGER });
    return titleOf({ ...object, metadata: { ...metadata, name: made.name, namespace: ref.namespace ?? '' } }, resource);
  }
  const apply = (): Promise<unknown> =>
    client.patch(resource, ref, { type: 'apply', body, fieldManager: FIELD_MANAGER, force: true });
  await apply().catch(async (error: unknown) => {
    if (!lacksAccount(error)) throw error;
    await untilAccount(client, ref.namespace ?? '', AbortSignal.timeout(accountMs));
    await apply();
  });
  return titleOf(object, resource);
};

/** A real API server lets no pod into a namespace before the controller manager has made its account. */
const lacksAccount = (error: unknown): boolean =>
  isForbidden(error) && error.message.includes('error looking up service account');

const deleteObject = async (client: KubeClient, resource: ResourceType, object: ManifestObject): Promise<boolean> => {
  try {
    await client.delete(resource, refOf(resource, object), { propagationPolicy: 'Background' });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
};

const waitUntilEstablished = (client: KubeClient, crd: ManifestObject, limit: Limit): Promise<void> => {
  const isEstablished = parseCondition('condition=Established');
  return waitFor(client, CUSTOM_RESOURCE_DEFINITIONS, { name: crd.metadata.name ?? '' }, isEstablished, limit);
};

const waitFor = async (
  client: KubeClient,
  resource: ResourceType,
  ref: ObjectRef,
  condition: Condition,
  { timeoutSeconds }: Limit,
): Promise<void> => {
  const stop = new AbortController();
  const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
  const mirror = createReflector({
    client,
    resource,
    namespace: ref.namespace,
    fieldSelector: `metadata.name=${ref.name}`,
    project: (object) => object,
    equal: () => false,
  });
  const current = (): KubeObject | undefined => [...mirror.values()][0];
  try {
    await new Promise<void>((resolve, reject) => {
      timeout.addEventListener('abort', () => reject(timedOut(resource, ref, timeoutSeconds, current())), {
        once: true,
      });
      const check = (): void => {
        if (mirror.synced && isMet(condition, current())) resolve();
      };
      mirror.subscribe(check);
      void mirror.run(stop.signal);
      mirror.whenSynced(stop.signal).then(check, () => {});
    });
  } finally {
    stop.abort();
  }
};

const timedOut = (
  { kind }: ResourceType,
  { namespace, name }: ObjectRef,
  seconds: number,
  object: unknown,
): SandboxError =>
  new SandboxError(
    'ERR_SANDBOX_TIMEOUT',
    `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name} after ${seconds} s: ${describeState(object)}`,
  );
