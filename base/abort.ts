/** What ends with an AbortSignal. Nothing else listens to one (`tools/once-rules.ts`): a listener that stays behind is easily written. */

/** Calls back once when the signal is aborted, at once when it has been. Returns what takes the listener off again. */
export const onAbort = (signal: AbortSignal | undefined, callback: () => unknown): (() => void) => {
  const listener = (): void => void callback();
  if (signal?.aborted) listener();
  else signal?.addEventListener('abort', listener, { once: true });
  return () => signal?.removeEventListener('abort', listener);
};

/**
 * A promise that `start` settles, or that rejects with the signal's reason, without a start when it has been aborted already.
 * What `start` returns is called once, when the promise settles, whichever way.
 */
export const abortable = <T>(
  signal: AbortSignal | undefined,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => unknown,
): Promise<T> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    let isSettled = false;
    let cleanUp: (() => unknown) | undefined;
    const settle = (finish: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      stopListening();
      cleanUp?.();
      finish();
    };
    const fail = (error: unknown): void => settle(() => reject(error));
    const stopListening = onAbort(signal, () => fail(signal?.reason));
    try {
      cleanUp = start((value) => settle(() => resolve(value)), fail);
      // It was settled before there was anything to clean up.
      if (isSettled) cleanUp();
    } catch (error) {
      fail(error);
    }
  });

/** What `work` resolves or rejects with; the signal's reason, when that comes before. `work` itself is not stopped. */
export const unlessAborted = <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> =>
  abortable(signal, (resolve, reject) => {
    work.then(resolve, reject);
    return () => undefined;
  });

/** Resolves when the signal is aborted, at once when it is already. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => void onAbort(signal, resolve));

/** What `work` resolves or rejects with. The background ends with it, and at the latest with the signal, and is waited for. */
export const alongside = async <T>(
  background: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> => {
  const ending = new AbortController();
  const running = background(AbortSignal.any([signal, ending.signal]));
  try {
    return await work();
  } finally {
    ending.abort();
    await running;
  }
};
