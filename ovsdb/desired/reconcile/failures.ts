/** Owners whose transactions failed. Each is left alone for a while that doubles with every failure. */
import { Backoff, type BackoffOptions } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import type { OvsdbError } from '../../errors.ts';

interface Failure {
  readonly backoff: Backoff;
  error: OvsdbError;
  isBlocked: boolean;
  cancel: () => void;
}

export interface FailuresOptions {
  readonly clock: Clock;
  readonly backoff: BackoffOptions;
  readonly random: () => number;
  /** Called when an owner may be tried again. */
  readonly onRetry: (owner: string) => void;
}

export class Failures {
  readonly #options: FailuresOptions;
  readonly #failures = new Map<string, Failure>();

  constructor(options: FailuresOptions) {
    this.#options = options;
  }

  readonly isBlocked = (owner: string): boolean => this.#failures.get(owner)?.isBlocked ?? false;

  /** The error of the last try; it stays until the owner succeeds. */
  error(owner: string): OvsdbError | undefined {
    return this.#failures.get(owner)?.error;
  }

  add(owner: string, error: OvsdbError): void {
    const { backoff, random } = this.#options;
    const failure = this.#failures.get(owner) ?? {
      backoff: new Backoff({ ...backoff, random }),
      error,
      isBlocked: true,
      cancel: () => {},
    };
    failure.cancel();
    failure.error = error;
    failure.isBlocked = true;
    failure.cancel = this.#options.clock.schedule(failure.backoff.nextMs(), () => this.release(owner));
    this.#failures.set(owner, failure);
  }

  /** Lets an owner be tried again now: what it wants has changed, or the time is over. */
  release(owner: string): void {
    const failure = this.#failures.get(owner);
    if (failure === undefined || !failure.isBlocked) return;
    failure.cancel();
    failure.isBlocked = false;
    this.#options.onRetry(owner);
  }

  /** The owner has succeeded, or wants something else. */
  forget(owner: string): void {
    const failure = this.#failures.get(owner);
    failure?.cancel();
    this.#failures.delete(owner);
    if (failure?.isBlocked) this.#options.onRetry(owner);
  }

  /** Nobody waits for another try any more; what failed before is forgotten. */
  stop(): void {
    for (const { cancel } of this.#failures.values()) cancel();
    this.#failures.clear();
  }
}
