/**
 * Writes that were not answered, or answered with an error of the server: they may be carried out all the same, and later
 * than one would think. No I/O.
 */
import type { Clock } from '../../base/clock.ts';
import { isTooManyRequests, isTransient } from '../../kube/errors.ts';
import { refKey } from '../../kube/object-key.ts';
import type { ObjectRef, ResourceType } from '../../kube/types.ts';
import type { WriterObservation } from '../../kube/writer/types.ts';

export interface Unanswered {
  /** To be called with everything that the writer observes. */
  follow(observation: WriterObservation): void;
  /** How long a write of an object may still be carried out: 0 when every one was answered. */
  mayComeMs(resource: ResourceType, ref: ObjectRef): number;
}

export const createUnanswered = (clock: Pick<Clock, 'monotonic'>): Unanswered => {
  /** Object → until when, oldest first. */
  const doubtful = new Map<string, number>();
  const keyOf = ({ group, plural }: ResourceType, key: string): string => `${group}/${plural} ${key}`;

  const forgetPast = (now: number): void => {
    for (const [key, until] of doubtful) {
      if (until > now) return;
      doubtful.delete(key);
    }
  };
  return {
    follow: (observation) => {
      if (observation.kind !== 'retrying' && observation.kind !== 'failed') return;
      const { resource, key, error } = observation;
      if (!isTransient(error) || isTooManyRequests(error)) return;
      const now = clock.monotonic();
      forgetPast(now);
      doubtful.delete(keyOf(resource, key));
      doubtful.set(keyOf(resource, key), now + LONGEST_REQUEST_MS);
    },
    mayComeMs: (resource, ref) => Math.max(0, (doubtful.get(keyOf(resource, refKey(ref))) ?? 0) - clock.monotonic()),
  };
};

/** An API server gives a request up after a minute (`--request-timeout` of kube-apiserver); the rest is for the network. */
const LONGEST_REQUEST_MS = 75_000;
