/** Tells owners of objects by event what features have to say about them, once for each thing that is said. */
import type { Diagnostic } from '../model/fragment.ts';

/** @param object `Pod/ns/name` */
export type TellObject = (object: string, reason: string, message: string) => void;

export class DiagnosticEvents {
  readonly #tell: TellObject;
  /** What has been told, by owner. */
  readonly #told = new Map<string, ReadonlySet<string>>();

  constructor(tell: TellObject) {
    this.#tell = tell;
  }

  /** @param owners whose diagnostics may be others now */
  update(owners: readonly string[], diagnostics: ReadonlyMap<string, readonly Diagnostic[]>): void {
    for (const owner of owners) {
      const before = this.#told.get(owner);
      const now = new Set<string>();
      for (const { object, message, event } of diagnostics.get(owner) ?? []) {
        if (event === undefined) continue;
        const text = `${object} ${event} ${message}`;
        now.add(text);
        if (before?.has(text) !== true) this.#tell(object, event, message);
      }
      if (now.size > 0) this.#told.set(owner, now);
      else this.#told.delete(owner);
    }
  }
}
