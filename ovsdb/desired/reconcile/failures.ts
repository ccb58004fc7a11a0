/**
 * Owners whose transactions failed. Each is left alone for a while that doubles with every failure. A group fails as a whole: a part of it
 * would be what nobody has asked for.
 */
import { Backoff, type BackoffOptions } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import type { OvsdbError } from '../../errors.ts';
import { type GroupOf, NO_OWNER } from './batch.ts';

export interface Failure {
  readonly error: OvsdbError;
  /** Who made it fail, as far as that is known: the owner, or one of its group. */
  readonly blamed: string;
}

interface Entry extends Failure {
  readonly backoff: Backoff;
  readonly isBlocked: boolean;
  readonly cancel: () => void;
}

export interface FailuresOptions {
  readonly clock: Clock;
  readonly backoff: BackoffOptions;
  readonly random: () => number;
  readonly groupOf: GroupOf;
  /** Called when an owner, and with it its group, may be tried again. */
  readonly onRetry: (owner: string) => void;
}

export class Failures {
  readonly #options: FailuresOptions;
  /** By owner, or by group. */
  readonly #failures = new Map<string, Entry>();

  constructor(options: FailuresOptions) {
    this.#options = options;
  }

  readonly isBlocked = (owner: string): boolean => this.get(owner)?.isBlocked ?? false;

  /** Of the last try; it stays until the owner and its group succeed. */
  get(owner: string): Entry | undefined {
    return this.#failures.size === 0 ? undefined : this.#failures.get(this.#keyOf(owner));
  }

  /** Who is blocked now. What an earlier run has left is while a group is refused: it may be all that the group has. */
  blocking(): (owner: string) => boolean {
    const { groupOf } = this.#options;
    const isGroup = this.#failures.values().some(({ blamed }) => groupOf(blamed) !== undefined);
    return isGroup ? (owner) => owner.startsWith(NO_OWNER) || this.isBlocked(owner) : this.isBlocked;
  }

  add(blamed: string, error: OvsdbError): void {
    const { backoff: options, random, clock } = this.#options;
    const before = this.get(blamed);
    before?.cancel();
    const backoff = before?.backoff ?? new Backoff({ ...options, random });
    const cancel = clock.schedule(backoff.nextMs(), () => this.release(blamed));
    this.#failures.set(this.#keyOf(blamed), { backoff, error, blamed, isBlocked: true, cancel });
  }

  /** Lets an owner be tried again now: what it wants has changed, or the time is over. */
  release(owner: string): void {
    const failure = this.get(owner);
    if (failure === undefined || !failure.isBlocked) return;
    failure.cancel();
    this.#failures.set(this.#keyOf(owner), { ...failure, isBlocked: false });
    this.#options.onRetry(owner);
  }

  /** The owner has succeeded, and all of its group, or wants something else. */
  forget(owner: string): void {
    const failure = this.get(owner);
    failure?.cancel();
    this.#failures.delete(this.#keyOf(owner));
    if (failure?.isBlocked) this.#options.onRetry(owner);
  }

  /** Nobody waits for another try any more; what failed before is forgotten. */
  stop(): void {
    for (const { cancel } of this.#failures.values()) cancel();
    this.#failures.clear();
  }

  #keyOf(owner: string): string {
    const group = this.#options.groupOf(owner);
    return group === undefined ? owner : `group ${group}`;
  }
}
