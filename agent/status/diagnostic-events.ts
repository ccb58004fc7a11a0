/** Emits the diagnostics of features as events of their objects, once for each message. */
import type { Clock } from '../../base/clock.ts';
import type { Diagnostic } from '../model/fragment.ts';

/** @param object `Pod/ns/name` */
export type EmitObjectEvent = (object: string, reason: string, message: string) => void;

export class DiagnosticEvents {
  readonly #emit: EmitObjectEvent;
  readonly #clock: Pick<Clock, 'schedule'>;
  /** The messages that have been emitted, or wait for their time, by owner; each with what cancels it. */
  readonly #reported = new Map<string, ReadonlyMap<string, () => void>>();

  /** @param clock for events that wait: there is a timer for each of them, and for no other */
  constructor(emit: EmitObjectEvent, clock: Pick<Clock, 'schedule'>) {
    this.#emit = emit;
    this.#clock = clock;
  }

  /** @param owners whose diagnostics may be others now */
  update(owners: readonly string[], diagnostics: ReadonlyMap<string, readonly Diagnostic[]>): void {
    for (const owner of owners) {
      const before = this.#reported.get(owner);
      const now = new Map<string, () => void>();
      for (const { object, message, event, eventAfterMs } of diagnostics.get(owner) ?? []) {
        if (event === undefined) continue;
        const text = `${object} ${event} ${message}`;
        now.set(
          text,
          before?.get(text) ?? now.get(text) ?? this.#report(() => this.#emit(object, event, message), eventAfterMs),
        );
      }
      for (const [text, cancel] of before ?? []) if (!now.has(text)) cancel();
      if (now.size > 0) this.#reported.set(owner, now);
      else this.#reported.delete(owner);
    }
  }

  stop(): void {
    for (const reported of this.#reported.values()) for (const cancel of reported.values()) cancel();
    this.#reported.clear();
  }

  #report(emit: () => void, afterMs: number | undefined): () => void {
    if (afterMs !== undefined) return this.#clock.schedule(afterMs, emit);
    emit();
    return () => {};
  }
}
