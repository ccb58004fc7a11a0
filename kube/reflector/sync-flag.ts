/** A condition that becomes true once, and who waits for it. */
import { unlessAborted } from '../../base/abort.ts';

export interface SyncFlag {
  readonly isSet: boolean;
  set(): void;
  /** @throws the signal's reason */
  wait(signal?: AbortSignal): Promise<void>;
}

export const createSyncFlag = (): SyncFlag => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isSet = false;
  return {
    get isSet() {
      return isSet;
    },
    set: () => {
      isSet = true;
      resolve();
    },
    wait: (signal) => (signal === undefined || isSet ? promise : unlessAborted(signal, promise)),
  };
};
