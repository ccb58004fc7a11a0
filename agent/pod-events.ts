/** What owners of pods are told, as Kubernetes Events. */
import type { EventRecorder } from '../kube/events/types.ts';

export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/** `ErrorAllocatingPod`: it has no address. `ErrorAttachingPod`: it has not been plugged. */
export type PodEventReason = 'ErrorAllocatingPod' | 'ErrorAttachingPod';

export type TellPod = (pod: PodIdentity, reason: PodEventReason, message: string) => void;

export const podEvents =
  (recorder: Pick<EventRecorder, 'record'>): TellPod =>
  ({ namespace, name, uid }, reason, message) =>
    recorder.record({
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
      type: 'Warning',
      reason,
      message,
    });
