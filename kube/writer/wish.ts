/** An operation that waits to be sent or is under way, and the callers that wait for it. */
import { onAbort } from '../../base/abort.ts';
import type { KubeObject } from '../types.ts';
import type { WriteOperation } from './operations.ts';

export interface Wish {
  operation: WriteOperation;
  failures: number;
  /** When the first caller came. */
  readonly since: number;
  /** Aborts when the last caller is gone. */
  readonly signal: AbortSignal;
  readonly abandoned: boolean;
  /** One more caller, whose signal has not aborted. */
  join(signal?: AbortSignal): Promise<KubeObject>;
  /** The callers of `other` wait for this one from now on. */
  adopt(other: Wish): void;
  resolve(object: KubeObject): void;
  reject(error: unknown): void;
}

interface Caller {
  readonly settle: (object: KubeObject | undefined, error: unknown) => void;
}

export const createWish = (operation: WriteOperation, since: number): Wish => {
  const callers = new Set<Caller>();
  const controller = new AbortController();
  const finish = (object: KubeObject | undefined, error: unknown): void => {
    for (const { settle } of callers) settle(object, error);
    callers.clear();
  };
  const leave = (caller: Caller): void => {
    callers.delete(caller);
    if (callers.size === 0) controller.abort();
  };
  const wish: Wish = {
    operation,
    failures: 0,
    since,
    signal: controller.signal,
    get abandoned() {
      return callers.size === 0;
    },
    join: (signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<KubeObject>();
      const caller: Caller = {
        settle: (object, error) => {
          stopListening();
          if (object === undefined) reject(error);
          else resolve(object);
        },
      };
      callers.add(caller);
      const stopListening = onAbort(signal, () => {
        leave(caller);
        reject(signal?.reason);
      });
      return promise;
    },
    adopt: (other) => {
      wish.join().then(other.resolve, other.reject);
    },
    resolve: (object) => finish(object, undefined),
    reject: (error) => finish(undefined, error),
  };
  return wish;
};
