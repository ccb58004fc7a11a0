/** A writer on an API server in memory that fails when a test says so. */
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createEmbeddedCluster } from '../embedded/cluster.ts';
import { KubeError } from '../errors.ts';
import { CONFIG_MAPS } from '../resources.ts';
import type { KubeClient, Patch } from '../types.ts';
import type { WriterObservation, WriterOptions } from './types.ts';
import { createWriter } from './writer.ts';

export const namespace = 'default';
export const ref = { namespace, name: 'a' };
export const ANNOTATION = 'k8s.ovn.org/pod-networks';

export const status = (code: number, details: ConstructorParameters<typeof KubeError>[2] = {}) =>
  new KubeError('ERR_KUBE_STATUS', String(code), { status: code, ...details });

export const bench = (options: Partial<WriterOptions> = {}) => {
  const clock = createFakeClock();
  const cluster = createEmbeddedCluster({ clock });
  const client = cluster.client();
  const created: string[] = [];
  const patches: { name: string; patch: Patch; subresource: string | undefined }[] = [];
  const faults: unknown[] = [];
  const observed: WriterObservation[] = [];
  const gate = { open: Promise.resolve() };
  let underWay = 0;
  let most = 0;
  const faulty: Pick<KubeClient, 'get' | 'patch' | 'create'> = {
    get: client.get,
    create: async (resource, object, ...rest) => {
      created.push(object.metadata.name ?? '');
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
      return await client.create(resource, object, ...rest);
    },
    patch: async (resource, target, patch, write, signal) => {
      patches.push({ name: target.name, patch, subresource: write?.subresource });
      underWay += 1;
      most = Math.max(most, underWay);
      await gate.open;
      underWay -= 1;
      signal?.throwIfAborted();
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
      return await client.patch(resource, target, patch, write, signal);
    },
  };
  const writer = createWriter({
    client: faulty,
    fieldManager: 'test',
    clock,
    random: () => 0,
    observe: (observation) => observed.push(observation),
    ...options,
  });
  const apply = (n: string, name = 'a', signal?: AbortSignal) =>
    writer.apply(CONFIG_MAPS, { metadata: { namespace, name }, data: { n } }, {}, signal);
  const retries = () => observed.filter(({ kind }) => kind === 'retrying').length;
  return { clock, client, writer, apply, created, patches, faults, observed, gate, retries, most: () => most };
};

/** A promise that tests may leave alone for a while. */
export const settled = <T>(promise: Promise<T>) =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
