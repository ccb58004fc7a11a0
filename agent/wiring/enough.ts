import { systemClock } from '../../base/clock.ts';

/** Goes on when it has waited long enough. @throws what `wait` throws before */
export const enough = async (
  milliseconds: number,
  signal: AbortSignal,
  wait: (soon: AbortSignal) => Promise<void>,
): Promise<void> => {
  const end = new AbortController();
  const cancel = systemClock.schedule(milliseconds, () => end.abort());
  try {
    await wait(AbortSignal.any([signal, end.signal]));
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    cancel();
  }
};
