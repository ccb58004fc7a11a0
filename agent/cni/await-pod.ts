/** Waits until a pod can be plugged: the API has it on this node, with its addresses. */
import { CniError } from '../../api/cni/error.ts';
import type { CniPod } from '../../api/cni/request.ts';
import type { Clock } from '../../base/clock.ts';
import { isAddressed, type PodAttachments } from '../model/attachments.ts';
import type { AttachmentRegistry } from './attachments/registry.ts';

export interface AwaitPodOptions {
  readonly registry: AttachmentRegistry;
  readonly clock: Clock;
  /** How long the API may lag behind the kubelet, which knows the pod already, in milliseconds. */
  readonly unknownPodMs: number;
  /** How long the pod's addresses may take, in milliseconds. */
  readonly addressesMs: number;
  /** After how many milliseconds without addresses `report` is called. */
  readonly patienceMs: number;
  /** Why this node cannot give a pod an address now; undefined: it can. @param pod `namespace/name` */
  readonly shortageOf: (pod: string) => string | undefined;
  /** Gets why the pod has no addresses yet. */
  readonly report: (message: string) => void;
}

/**
 * @throws CniError `podGone` when the API does not have this pod on this node, `networkNotReady` when its addresses do not
 * come, both with the reason; `invalidConfig` when it selects a network that nobody can attach it to
 */
export const awaitAddressedPod = async (
  pod: CniPod,
  options: AwaitPodOptions,
  signal: AbortSignal,
): Promise<PodAttachments> => {
  const { registry } = options;
  const key = `${pod.namespace}/${pod.name}`;
  const isThisPod = (found: PodAttachments | undefined): PodAttachments | undefined =>
    found !== undefined && (pod.uid === undefined || found.pod.runtimeUid === pod.uid) ? found : undefined;
  await within(
    options.clock,
    options.unknownPodMs,
    signal,
    (limited) => registry.until(key, isThisPod, limited),
    () => unknownPod(pod, registry.get(key)),
  );
  const why = (): CniError => notAddressed(key, registry.get(key), options.shortageOf(key));
  const cancelReport = options.clock.schedule(options.patienceMs, () => options.report(why().message));
  return await within(
    options.clock,
    options.addressesMs,
    signal,
    (limited) =>
      registry.until(
        key,
        (found) => {
          const known = isThisPod(found);
          if (known === undefined) throw unknownPod(pod, found);
          if (!isAddressed(known)) refuseLeaving(known);
          if (known.refused !== undefined) throw new CniError('invalidConfig', known.refused);
          // Nothing that is waited for gives it one: somebody has to change the pod, or what it is in the way of.
          if (known.pod.barred !== undefined) throw notAddressed(key, known);
          return isAddressed(known) ? known : undefined;
        },
        limited,
      ),
    why,
  ).finally(cancelReport);
};

/** The kubelet ends a pod only when its ADD has ended, and the pod needs nothing any more. @throws CniError */
export const refuseLeaving = ({ pod }: PodAttachments): void => {
  if (pod.leaving === true) throw new CniError('podGone', `pod ${pod.namespace}/${pod.name} is being deleted`);
};

/** Runs `work` with a signal that also aborts after `milliseconds`, with what `late` returns. */
export const within = async <Result>(
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<Result>,
  late: () => Error,
): Promise<Result> => {
  const controller = new AbortController();
  const cancel = clock.schedule(milliseconds, () => controller.abort(late()));
  try {
    return await work(AbortSignal.any([signal, controller.signal]));
  } finally {
    cancel();
  }
};

const unknownPod = ({ namespace, name, uid }: CniPod, found: PodAttachments | undefined): CniError => {
  const details =
    found === undefined
      ? 'the API server has no such pod on this node that is still running'
      : `the API server has a pod of this name with UID ${found.pod.runtimeUid}, the request is for UID ${uid}`;
  return new CniError('podGone', `pod ${namespace}/${name} is not on this node`, { details });
};

const notAddressed = (key: string, found: PodAttachments | undefined, shortage?: string): CniError => {
  const lacking = (found?.attachments ?? []).filter(({ nadKey }) => found?.pod.networks.has(nadKey) === false);
  const details =
    found?.pod.unreadable ??
    found?.pod.barred ??
    found?.waitingFor ??
    shortage ??
    lacking
      .map(
        ({ nadKey, network, givenBy }) =>
          found?.pod.refused?.get(nadKey) ??
          (givenBy === 'cluster'
            ? `the cluster manager has not allocated its address on network ${network.name} yet`
            : `this node has not allocated its address on network ${network.name} yet`),
      )
      .join('; ');
  return new CniError('networkNotReady', `pod ${key} has no addresses: ${details}`, {
    details: 'the runtime retries ADD; see the events of the pod and of its network',
  });
};
