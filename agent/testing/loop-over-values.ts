/** A reconcile loop over values in memory, by a clock that stands still. */
import type { Clock } from '../../base/clock.ts';
import type { Backend, OutsideChange, ReconcileOutcome, ReconcileRequest } from '../../datapath/backend.ts';
import { type LoopObservation, ReconcileLoop } from '../reconcile/reconcile-loop.ts';

/** A fake where values are kept by key, which may be broken. */
class TestBackend implements Backend<string> {
  readonly actual = new Map<string, string>();
  readonly requests: (ReadonlySet<string> | 'all')[] = [];
  readonly refused = new Set<string>();
  readonly absent = new Set<string>();
  readonly impossible = new Set<string>();
  isGone = false;
  /** False: as one that has written too much to name it. */
  namesWrites = true;
  /** What reading takes: as with a program, what is desired may change meanwhile. */
  reading: Promise<void> | undefined;
  closed = false;
  #emit: (change: OutsideChange) => void = () => undefined;

  async reconcile({ desired, keys, prune }: ReconcileRequest<string>): Promise<ReconcileOutcome> {
    this.requests.push(keys === 'all' ? keys : new Set(keys));
    if (this.isGone) throw new Error('no answer');
    await this.reading;
    const all = keys === 'all' ? new Set([...desired.keys(), ...this.actual.keys()]) : keys;
    const failed = new Map<string, string>();
    const waiting = new Map<string, string>();
    const unsupported = new Map<string, string>();
    const writtenKeys = new Set<string>();
    for (const key of all) {
      const value = desired.get(key);
      if (this.actual.get(key) === value) continue;
      if (this.refused.has(key)) failed.set(key, 'refused');
      else if (this.absent.has(key)) waiting.set(key, 'a link');
      else if (this.impossible.has(key)) unsupported.set(key, 'no VRF');
      else if (value !== undefined) this.actual.set(key, value);
      else if (prune) this.actual.delete(key);
      writtenKeys.add(key);
    }
    const named = this.namesWrites ? { writtenKeys } : {};
    return { written: writtenKeys.size, ...named, failed, waiting, unsupported };
  }

  listen(listener: (change: OutsideChange) => void): () => void {
    this.#emit = listener;
    return () => {
      this.#emit = () => undefined;
    };
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  emit(change: OutsideChange): void {
    this.#emit(change);
  }
}

/** Time stands still; `ring` runs what was scheduled last, of all that waits. */
class StoppedClock implements Clock {
  readonly waiting = new Map<() => void, number>();
  wall = (): number => 1000;
  monotonic = (): number => 0;
  schedule = (ms: number, callback: () => void): (() => void) => {
    this.waiting.set(callback, ms);
    return () => this.waiting.delete(callback);
  };

  ring(longerThan = 0): void {
    for (const [callback, ms] of [...this.waiting]) {
      if (ms < longerThan) continue;
      this.waiting.delete(callback);
      callback();
    }
  }
}

export const setup = () => {
  const fake = new TestBackend();
  const clock = new StoppedClock();
  const seen: LoopObservation[] = [];
  const loop = new ReconcileLoop<string>({
    keyOf: (item) => item.split('=')[0] ?? '',
    backend: fake,
    clock,
    observe: (observation) => seen.push(observation),
  });
  return { fake, clock, seen, loop };
};
