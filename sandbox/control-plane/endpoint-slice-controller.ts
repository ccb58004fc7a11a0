/** Keeps the EndpointSlices of Services with selectors. */
import { isDeepStrictEqual } from 'node:util';
import { isNotFound } from '../../kube/errors.ts';
import { createWorkQueue } from '../../kube/queue/work-queue.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { ObjectCache } from '../../kube/reflector/types.ts';
import { ENDPOINT_SLICES, PODS, SERVICES } from '../../kube/resources.ts';
import type { KubeClient, KubeObject } from '../../kube/types.ts';
import {
  isSelected,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  type PodFacts,
  SERVICE_NAME_LABEL,
  type SliceObject,
  slicesOf,
} from './endpoint-slices.ts';
import { readEndpointPod, readService } from './objects.ts';

export interface EndpointSliceControllerOptions {
  readonly client: KubeClient;
  readonly onError: (error: unknown) => void;
}

const FIELD_MANAGER = 'endpoint-slice-controller';

/** Until `signal` aborts. */
export const runEndpointSliceController = async (
  { client, onError }: EndpointSliceControllerOptions,
  signal: AbortSignal,
): Promise<void> => {
  const services = createReflector({ client, resource: SERVICES, project: readService });
  const pods = createReflector({
    client,
    resource: PODS,
    project: readEndpointPod,
    indexes: { namespace: (pod) => [pod.namespace] },
  });
  const slices = createReflector({
    client,
    resource: ENDPOINT_SLICES,
    labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY}`,
    project: (object): KubeObject => object,
    indexes: { service: (slice: KubeObject) => [serviceKey(slice)] },
  });
  const queue = createWorkQueue({
    concurrency: 4,
    handle: async (key) => {
      const service = services.get(key);
      if (service === undefined) return;
      await apply(client, slices, key, slicesOf(service, pods.byIndex('namespace', service.namespace)));
    },
    observe: (observation) => observation.kind === 'failed' && !signal.aborted && onError(observation.error),
  });
  const addServicesOf = (pod: PodFacts | undefined): void => {
    if (pod === undefined) return;
    for (const [key, service] of services.entries()) if (isSelected(service, pod)) queue.add(key);
  };
  services.subscribe(({ key, after }) => after !== undefined && queue.add(key));
  pods.subscribe(({ before, after }) => {
    addServicesOf(before);
    addServicesOf(after);
  });
  // Also of its own writes: the desired state may have changed back before the mirror had the last one.
  slices.subscribe(({ before, after }) => {
    const slice = after ?? before;
    if (slice !== undefined) queue.add(serviceKey(slice));
  });
  const mirrors = [services, pods, slices];
  const running = mirrors.map((mirror) => mirror.run(signal));
  await Promise.all(mirrors.map((mirror) => mirror.whenSynced(signal))).catch(() => {});
  await Promise.all([...running, queue.run(signal)]);
};

const serviceKey = ({ metadata }: KubeObject): string =>
  `${metadata.namespace ?? ''}/${metadata.labels?.[SERVICE_NAME_LABEL] ?? ''}`;

/** Slices of a Service that is gone are the garbage collector's: the Service owns them. */
const apply = async (
  client: KubeClient,
  slices: ObjectCache<KubeObject, 'service'>,
  key: string,
  desired: readonly SliceObject[],
): Promise<void> => {
  const existing = slices.byIndex('service', key);
  const keptNames = new Set(desired.map(({ metadata }) => metadata.name));
  for (const slice of desired) {
    const same = existing.find(({ metadata }) => metadata.name === slice.metadata.name);
    if (same !== undefined && hasContent(same, slice)) continue;
    const ref = { namespace: slice.metadata.namespace, name: slice.metadata.name };
    await client.patch(ENDPOINT_SLICES, ref, { type: 'apply', body: slice, fieldManager: FIELD_MANAGER, force: true });
  }
  for (const { metadata } of existing) {
    if (keptNames.has(metadata.name)) continue;
    await client
      .delete(ENDPOINT_SLICES, { namespace: metadata.namespace, name: metadata.name })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }
};

const hasContent = (actual: KubeObject, desired: SliceObject): boolean =>
  isDeepStrictEqual(actual['endpoints'], desired['endpoints']) && isDeepStrictEqual(actual['ports'], desired['ports']);
