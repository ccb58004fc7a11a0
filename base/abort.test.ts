import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { abortable, alongside, onAbort, unlessAborted, untilAborted } from './abort.ts';

const NOTHING = () => undefined;
const WHY = new Error('enough');

const newStop = () => {
  const stop = new AbortController();
  return { stop, signal: stop.signal, listeners: () => getEventListeners(stop.signal, 'abort').length };
};

describe('abortable', () => {
  it('settles as what it started does', async () => {
    const { signal, listeners } = newStop();
    const start = (how: (resolve: (value: string) => void, reject: (error: unknown) => void) => void) =>
      abortable<string>(signal, (resolve, reject) => {
        how(resolve, reject);
        return NOTHING;
      });
    await expect(start((resolve) => resolve('done'))).resolves.toBe('done');
    await expect(start((_, reject) => reject(WHY))).rejects.toBe(WHY);
    const failing = start(() => {
      throw WHY;
    });
    await expect(failing).rejects.toBe(WHY);
    expect(listeners()).toBe(0);
  });

  it('rejects with the reason, cleans up once, and hears nothing of what comes later', async () => {
    const { stop, signal } = newStop();
    let cleaned = 0;
    let late: (value: number) => void = () => {};
    const waiting = abortable<number>(signal, (resolve) => {
      late = resolve;
      return () => cleaned++;
    });
    stop.abort(WHY);
    late(1);
    await expect(waiting).rejects.toBe(WHY);
    expect(cleaned).toBe(1);
  });

  it('cleans up what was settled before its start returned', async () => {
    let cleaned = 0;
    await abortable<void>(undefined, (resolve) => {
      resolve();
      return () => cleaned++;
    });
    expect(cleaned).toBe(1);
  });

  it('does not start with an aborted signal', async () => {
    let isStarted = false;
    const start = () => {
      isStarted = true;
      return NOTHING;
    };
    await expect(abortable(AbortSignal.abort(WHY), start)).rejects.toBe(WHY);
    expect(isStarted).toBe(false);
  });
});

it('gives work up with the signal, and no listener stays', async () => {
  const { stop, signal, listeners } = newStop();
  expect(await unlessAborted(signal, Promise.resolve(1))).toBe(1);
  await expect(unlessAborted(undefined, Promise.reject(WHY))).rejects.toBe(WHY);
  expect(listeners()).toBe(0);
  const waiting = unlessAborted(signal, new Promise(() => {}));
  stop.abort(WHY);
  await expect(waiting).rejects.toBe(WHY);
});

it('tells of the end once, at once when it was before, and not after it was told not to', () => {
  const { stop, signal, listeners } = newStop();
  const reported: string[] = [];
  onAbort(signal, () => reported.push('kept'));
  onAbort(signal, () => reported.push('taken off'))();
  onAbort(undefined, () => reported.push('never'))();
  stop.abort();
  onAbort(signal, () => reported.push('late'));
  expect([reported, listeners()]).toEqual([['kept', 'late'], 0]);
});

it('waits for the end', async () => {
  const { stop, signal } = newStop();
  const waiting = untilAborted(signal);
  stop.abort();
  await waiting;
  await untilAborted(signal);
});

describe('work alongside a background', () => {
  const background = () => {
    const ended: boolean[] = [];
    const run = async (signal: AbortSignal) => {
      await untilAborted(signal);
      ended.push(true);
    };
    return { run, ended };
  };

  it('ends the background when it fails, and when it is done', async () => {
    const { run, ended } = background();
    const { signal, listeners } = newStop();
    await expect(alongside(run, signal, () => Promise.reject(WHY))).rejects.toBe(WHY);
    expect(await alongside(run, signal, async () => 'done')).toBe('done');
    expect([ended, listeners()]).toEqual([[true, true], 0]);
  });

  it('lets the signal end the background, too', async () => {
    const { run, ended } = background();
    const { stop, signal } = newStop();
    const result = alongside(run, signal, () => untilAborted(signal));
    stop.abort();
    await result;
    expect(ended).toEqual([true]);
  });
});
