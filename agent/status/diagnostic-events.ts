/** Emits the diagnostics of features as events of their objects, once for each message. */
import type { Diagnostic } from '../model/fragment.ts';

/** @param object `Pod/ns/name` */
export type EmitObjectEvent = (object: string, reason: string, message: string) => void;

export class DiagnosticEvents {
  readonly #emit: EmitObjectEvent;
  /** The messages that have been emitted, by owner. */
  readonly #reported = new Map<string, ReadonlySet<string>>();

  constructor(emit: EmitObjectEvent) {
    this.#emit = emit;
  }

  /** @param owners whose diagnostics may be others now */
  update(owners: readonly string[], diagnostics: ReadonlyMap<string, readonly Diagnostic[]>): void {
    for (const owner of owners) {
      const before = this.#reported.get(owner);
      const now = new Set<string>();
      for (const { object, message, event } of diagnostics.get(owner) ?? []) {
        if (event === undefined) continue;
        const text = `${object} ${event} ${message}`;
        now.add(text);
        if (before?.has(text) !== true) this.#emit(object, event, message);
      }
      if (now.size > 0) this.#reported.set(owner, now);
      else this.#reported.delete(owner);
    }
  }
}
