/** Listens to `nft monitor` as long as somebody wants to know, and starts it again when it ends. */
import { Backoff } from '../../base/backoff.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { OutsideChange } from '../backend.ts';
import type { NftProgram, Transaction } from './nft-program.ts';
import { OutsideChanges } from './outside-changes.ts';

/** As nft itself says it: what happened while it did not run is lost as well. */
const EVENTS_LOST = '# ERROR: We lost some netlink events';

export class Monitor {
  readonly #nft: NftProgram;
  readonly #schedule: Clock['schedule'];
  readonly #changes: OutsideChanges;
  readonly #listeners = new Set<(cause: OutsideChange['cause']) => void>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  readonly #backoff = new Backoff({ minMs: 200, maxMs: 15_000 });
  #cancelRetry: (() => void) | undefined;

  readonly #onLine: (line: string) => void;

  /** @param onLine called with each line that nft prints, about whatever table */
  constructor(
    nft: NftProgram,
    schedule: Clock['schedule'] = systemClock.schedule,
    onLine: (line: string) => void = () => undefined,
  ) {
    this.#nft = nft;
    this.#schedule = schedule;
    this.#onLine = onLine;
    this.#changes = new OutsideChanges((cause) => this.#notify(cause));
  }

  /** @param listener called when another program has changed our table, or (`input`) may have while nobody listened */
  listen(listener: (cause: OutsideChange['cause']) => void): () => void {
    this.#listeners.add(listener);
    this.#start();
    return () => this.#listeners.delete(listener);
  }

  /** Runs a transaction of ours, which notifies nobody. */
  async own(run: () => Promise<Transaction>): Promise<Transaction> {
    const end = this.#changes.own();
    let generation: number | undefined;
    try {
      const transaction = await run();
      generation = transaction.generation;
      return transaction;
    } finally {
      end(generation);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#cancelRetry?.();
    await this.#running;
  }

  #start(): void {
    if (this.#running === undefined && !this.#stop.signal.aborted) this.#running = this.#follow();
  }

  async #follow(): Promise<void> {
    try {
      for await (const line of this.#nft.monitor(this.#stop.signal)) {
        this.#backoff.reset();
        this.#changes.line(line);
        this.#onLine(line);
      }
    } catch {
      // Why nft does not run is said by the next reconcile, which needs it too.
    }
    this.#running = undefined;
    if (this.#stop.signal.aborted) return;
    this.#changes.reset();
    this.#cancelRetry = this.#schedule(this.#backoff.nextMs(), () => {
      this.#start();
      this.#onLine(EVENTS_LOST);
      this.#notify('input');
    });
  }

  #notify(cause: OutsideChange['cause']): void {
    for (const listener of [...this.#listeners]) listener(cause);
  }
}
