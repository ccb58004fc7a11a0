/** Members that their owners want and may not have now. Nearly always there are none. */
export class Withheld {
  readonly #byOwner = new Map<string, Set<string>>();

  /** @returns whether that is a change */
  set(owner: string, member: string, isWithheld: boolean): boolean {
    const members = this.#byOwner.get(owner) ?? new Set();
    if (members.has(member) === isWithheld) return false;
    if (isWithheld) members.add(member);
    else members.delete(member);
    if (members.size === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, members);
    return true;
  }
}
