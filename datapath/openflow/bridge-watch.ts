/** Keeps one flow monitor of a bridge running, for as long as desired. */
import { abortable } from '../../base/abort.ts';
import { Backoff } from '../../base/backoff.ts';
import { systemClock } from '../../base/clock.ts';
import type { SwitchClient } from './switch-client.ts';
import type { MonitorEvent } from './text/flow-monitor.ts';

export interface BridgeWatchOptions {
  readonly client: SwitchClient;
  readonly bridge: string;
  readonly onEvents: (events: readonly MonitorEvent[]) => void;
  /** It listens to changes. `isAgain`: after it had failed, so that whoever was turned away may try again. */
  readonly onReady: (isAgain: boolean) => void;
  /** What was known of the bridge no longer holds. */
  readonly onLost: (error: unknown) => void;
}

const WAITS = { minMs: 50, maxMs: 2_000 };
/** A switch that says nothing for so long counts as one that does not answer. */
const SETTLED_MS = 10_000;

export class BridgeWatch {
  readonly #options: BridgeWatchOptions;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #isReady = false;
  #error: unknown;
  /** The attempt that goes on: it becomes ready, or fails. */
  #attempt = Promise.withResolvers<void>();
  #wake: (() => void) | undefined;
  /** Asked for while an attempt was under way, which may have come too early. */
  #isRetryDue = false;

  constructor(options: BridgeWatchOptions) {
    this.#options = options;
    this.#ended = this.#run();
  }

  /** Resolves when it is known whether the bridge answers. True if it does. */
  async settled(signal: AbortSignal): Promise<boolean> {
    await abortable<void>(signal, (resolve, reject) => {
      this.#attempt.promise.then(resolve, reject);
      return systemClock.schedule(SETTLED_MS, resolve);
    });
    return this.#isReady;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Why it is not ready. */
  get error(): unknown {
    return this.#error;
  }

  /** Does not wait any longer to try again: something has happened that may let it succeed. */
  retryNow(): void {
    if (this.#wake === undefined) this.#isRetryDue = true;
    else this.#wake();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake?.();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const backoff = new Backoff(WAITS);
    while (!signal.aborted) {
      const wasReady = await this.#listen(signal);
      this.#attempt.resolve();
      if (wasReady || this.#isRetryDue) backoff.reset();
      const isAtOnce = !wasReady && this.#isRetryDue;
      this.#isRetryDue = false;
      const waitMs = backoff.nextMs();
      if (!signal.aborted && !isAtOnce && (await this.#pause(waitMs))) backoff.reset();
      if (wasReady) this.#attempt = Promise.withResolvers();
    }
  }

  /** @returns whether it had come to listen */
  async #listen(signal: AbortSignal): Promise<boolean> {
    const { client, bridge, onEvents, onReady, onLost } = this.#options;
    let wasReady = false;
    try {
      for await (const events of client.watch(bridge, signal)) {
        if (!wasReady && events.some(({ kind }) => kind === 'ready')) {
          wasReady = true;
          this.#isReady = true;
          onReady(this.#error !== undefined);
          this.#error = undefined;
          this.#attempt.resolve();
        }
        onEvents(events);
      }
    } catch (error) {
      this.#error = error;
    }
    this.#isReady = false;
    if (wasReady && !signal.aborted) onLost(this.#error);
    return wasReady;
  }

  /** @returns whether it was woken */
  #pause(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isWoken: boolean): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve(isWoken);
      };
      const timer = setTimeout(end, ms, false);
      this.#wake = () => end(true);
    });
  }
}
