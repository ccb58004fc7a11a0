/** What the cases share. Every case has a namespace of its own, so that they can run on a server that others use. */
import { it } from 'vitest';
import { isAlreadyExists, KubeError } from '../../../kube/errors.ts';
import { CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS } from '../../../kube/resources.ts';
import type { KubeClient, KubeObject, ObjectInput } from '../../../kube/types.ts';
import type { ConformanceServer, KubeConformanceOptions } from './suite.ts';

export interface CaseContext {
  readonly client: KubeClient;
  /** The case's own. */
  readonly namespace: string;
  readonly server: ConformanceServer;
  readonly signal: AbortSignal;
}

export interface Harness {
  readonly options: KubeConformanceOptions;
  test(name: string, body: (context: CaseContext) => Promise<void>): void;
}

export const createHarness = (
  options: KubeConformanceOptions,
  group: string,
  server: () => ConformanceServer,
): Harness => ({
  options,
  test: (name, body) => {
    const skip = options.skip?.find(({ tests }) => tests.includes(`${group}: ${name}`));
    it.skipIf(skip !== undefined)(skip === undefined ? name : `${name} (${skip.reason})`, async ({ signal }) => {
      const { client } = server();
      const created = await client.create(NAMESPACES, { metadata: { generateName: 'conformance-' } });
      const namespace = created.metadata.name;
      try {
        await body({ client, namespace, server: server(), signal });
      } finally {
        await client.delete(NAMESPACES, { name: namespace }).catch(() => {});
      }
    });
  },
});

/** What the call is refused with. */
export const refusal = async (call: Promise<unknown>): Promise<KubeError> => {
  const outcome = await call.then(
    (value) => new Error(`not refused: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof KubeError) return outcome;
  throw outcome;
};

/** Waits for a condition that nothing announces. */
export const eventually = async <T>(attempt: () => Promise<T>, deadlineMs = 20_000): Promise<T> => {
  const until = performance.now() + deadlineMs;
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 200)) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
};

export const configMap = (
  namespace: string,
  name: string,
  data: Readonly<Record<string, string>> = {},
): ObjectInput => ({
  metadata: { namespace, name },
  data,
});

export const newConfigMap = (
  { client, namespace }: CaseContext,
  name: string,
  data: Readonly<Record<string, string>> = {},
): Promise<KubeObject> => client.create(CONFIG_MAPS, configMap(namespace, name, data));

/** A real server lets pods in only when the namespace has this account. */
export const withServiceAccount = async ({ client, namespace }: CaseContext): Promise<void> => {
  await client.create(SERVICE_ACCOUNTS, { metadata: { namespace, name: 'default' } }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
};

export const pod = (namespace: string, name: string, spec: Readonly<Record<string, unknown>> = {}): ObjectInput => ({
  metadata: { namespace, name },
  spec: { containers: [{ name: 'main', image: 'example.org/main:1' }], ...spec },
});

/** The value at a path of keys. */
export const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);
