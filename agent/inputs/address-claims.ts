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

  /** Undefined when the pod is gone. @returns the other pods whose standing may have changed */
  set(pod: string, claim: AddressClaim | undefined): string[] {
    const before = this.#claims.get(pod);
    const things = new Set([...(before?.things ?? []), ...(claim?.things ?? [])]);
    const touched = new Set([...things].flatMap((thing) => this.#claimantsOf(thing)));
    touched.delete(pod);
    for (const thing of before?.things ?? []) this.#leave(thing, pod);
    for (const thing of claim?.things ?? []) this.#join(thing, pod);
    if (claim === undefined) this.#claims.delete(pod);
    else this.#claims.set(pod, { ...claim, number: claim.uid === before?.uid ? before.number : this.#known++ });
    return [...touched];
  }

  /** The pod that has what this one claims, too; undefined when it is this one's. */
  rivalOf(pod: string, thing: string): string | undefined {
    const own = this.#claims.get(pod);
    return this.#claimantsOf(thing).find((other) => {
      const claim = this.#claims.get(other);
      return own !== undefined && claim !== undefined && other !== pod && isBefore(claim, own);
    });
  }

  #claimantsOf(thing: string): readonly string[] {
    const found = this.#claimants.get(thing) ?? [];
    return typeof found === 'string' ? [found] : found;
  }

  #join(thing: string, pod: string): void {
    this.#setClaimants(thing, [...this.#claimantsOf(thing), pod]);
  }

  #leave(thing: string, pod: string): void {
    this.#setClaimants(
      thing,
      this.#claimantsOf(thing).filter((other) => other !== pod),
    );
  }

  #setClaimants(thing: string, pods: readonly string[]): void {
    const [first, ...more] = pods;
    if (first === undefined) this.#claimants.delete(thing);
    else this.#claimants.set(thing, more.length === 0 ? first : pods);
  }
}

const isBefore = (a: NumberedClaim, b: NumberedClaim): boolean =>
  a.createdAt === b.createdAt ? a.number < b.number : a.createdAt < b.createdAt;
