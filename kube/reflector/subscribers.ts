import type { ObjectKey } from '../types.ts';
import type { Change, ChangeHandler } from './types.ts';

/** Who wants to hear of changes. One that throws is reported and the others are still called. */
export interface Subscribers<T> {
  emit(change: Change<T>): void;
  /** Replays `current` as `added` first. */
  add(handler: ChangeHandler<T>, current: Iterable<[ObjectKey, T]>): () => void;
}

export const createSubscribers = <T>(onFailure: (key: ObjectKey, error: unknown) => void): Subscribers<T> => {
  const handlers = new Set<ChangeHandler<T>>();
  const call = (handler: ChangeHandler<T>, change: Change<T>): void => {
    try {
      handler(change);
    } catch (error) {
      onFailure(change.key, error);
    }
  };
  return {
    emit: (change) => {
      for (const handler of [...handlers]) call(handler, change);
    },
    add: (handler, current) => {
      // A function of its own per subscription: the same handler may be subscribed twice.
      const own: ChangeHandler<T> = (change) => handler(change);
      for (const [key, after] of [...current]) call(own, { type: 'added', key, after });
      handlers.add(own);
      return () => handlers.delete(own);
    },
  };
};
