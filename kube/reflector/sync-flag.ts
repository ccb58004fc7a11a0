/** A condition that becomes true once, and who waits for it. */
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
    wait: async (signal) => {
      if (signal === undefined || isSet) return promise;
      signal.throwIfAborted();
      const aborted = Promise.withResolvers<never>();
      const onAbort = (): void => aborted.reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        await Promise.race([promise, aborted.promise]);
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
};
