/**
 * Which pod has an address, should the API say that several have it: an annotation is easily copied, and no pod may lose
 * its address to a later one. The oldest pod has it, and of those of one second the one that was known first.
 */

export interface AddressClaim {
  readonly uid: string;
  /** Sorts by age. */
  readonly createdAt: string;
  /** Addresses and keys, each with its network: the same address on two networks is two. */
  readonly things: readonly string[];
}

interface NumberedClaim extends AddressClaim {
  /** In the order in which pods became known. */
  readonly number: number;
}

export class AddressClaims {
  readonly #claims = new Map<string, NumberedClaim>();
  /** Nearly everything has one claimant, and there are several things of each pod: a list only where there are more. */
  readonly #claimants = new Map<string, string | readonly string[]>();
  #known = 0;

  /** Undefined when the pod is gone. @returns the other pods whose standing may have changed, and that have a say in its */
  set(pod: string, claim: AddressClaim | undefined): ReadonlySet<string> {
    const before = this.#claims.get(pod);
    const others = new Set<string>();
    for (const thing of before?.things ?? []) this.#leave(thing, pod, others);
    for (const thing of claim?.things ?? []) this.#join(thing, pod, others);
    if (claim === undefined) this.#claims.delete(pod);
    else this.#claims.set(pod, { ...claim, number: claim.uid === before?.uid ? before.number : this.#known++ });
    return others;
  }

  /**
   * The pod that has what this one claims, too; undefined when it is this one's.
   * @param mayShare whether another pod may have it at the same time
   */
  rivalOf(pod: string, thing: string, mayShare: (other: string) => boolean = () => false): string | undefined {
    const own = this.#claims.get(pod);
    return this.claimantsOf(thing).find((other) => {
      const claim = this.#claims.get(other);
      const isOlder = own !== undefined && claim !== undefined && other !== pod && isBefore(claim, own);
      return isOlder && !mayShare(other);
    });
  }

  /** The other pods that claim something that this one claims. */
  sharersOf(pod: string): readonly string[] {
    const things = this.#claims.get(pod)?.things ?? [];
    return things.flatMap((thing) => this.claimantsOf(thing).filter((other) => other !== pod));
  }

  claimantsOf(thing: string): readonly string[] {
    const found = this.#claimants.get(thing) ?? [];
    return typeof found === 'string' ? [found] : found;
  }

  /** Nearly always nobody else has it: then this is one look-up and one entry. */
  #join(thing: string, pod: string, others: Set<string>): void {
    const found = this.#claimants.get(thing);
    if (found === undefined) {
      this.#claimants.set(thing, pod);
      return;
    }
    const claimants = typeof found === 'string' ? [found] : found;
    for (const other of claimants) others.add(other);
    this.#claimants.set(thing, [...claimants, pod]);
  }

  #leave(thing: string, pod: string, others: Set<string>): void {
    const found = this.#claimants.get(thing);
    if (found === pod) {
      this.#claimants.delete(thing);
      return;
    }
    const [first, ...more] = typeof found === 'object' ? found.filter((other) => other !== pod) : [];
    if (first === undefined) return;
    for (const other of [first, ...more]) others.add(other);
    this.#claimants.set(thing, more.length === 0 ? first : [first, ...more]);
  }
}

const isBefore = (a: NumberedClaim, b: NumberedClaim): boolean =>
  a.createdAt === b.createdAt ? a.number < b.number : a.createdAt < b.createdAt;
