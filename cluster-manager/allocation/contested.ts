/**
 * Who was refused what somebody else has, in the order in which they came: the oldest first, where the cluster manager
 * starts. They may run with it all the same, so it is theirs when the holder goes, and nobody else's. No I/O and no clock.
 */
export class Contested<Thing> {
  /** Nearly always empty. */
  readonly #refused = new Map<Thing, Set<string>>();

  add(thing: Thing, who: string): void {
    this.#refused.set(thing, (this.#refused.get(thing) ?? new Set()).add(who));
  }

  of(thing: Thing): readonly string[] {
    return [...(this.#refused.get(thing) ?? [])];
  }

  /** Whether there is anything that it was refused. */
  has(who: string): boolean {
    return this.#refused.values().some((all) => all.has(who));
  }

  /** Those of another one that wait still. */
  inherit(before: Contested<Thing>, isWaiting: (thing: Thing, who: string) => boolean): void {
    for (const [thing, all] of before.#refused) for (const who of all) if (isWaiting(thing, who)) this.add(thing, who);
  }

  /** One who has it now, or does not want it any more. */
  remove(thing: Thing, who: string): void {
    const all = this.#refused.get(thing);
    if (all?.delete(who) === true && all.size === 0) this.#refused.delete(thing);
  }

  /** One who is gone. */
  forget(who: string): void {
    for (const thing of [...this.#refused.keys()]) this.remove(thing, who);
  }
}
