/**
 * Which Service has an address and port that others claim, too: the oldest, and of those of one second the first by name, so
 * that all nodes agree. No network knows of another's Services, and what comes from outside has to go to one of them.
 */
import { claimedAddresses, type ServiceFact, serviceKey } from '../model/facts.ts';

export type ServiceClaim = Pick<
  ServiceFact,
  | 'namespace'
  | 'name'
  | 'createdAt'
  | 'ports'
  | 'clusterIps'
  | 'externalIps'
  | 'loadBalancerIps'
  | 'healthCheckNodePort'
>;

export class ExternalClaims {
  /** Nearly everything has one claimant. */
  readonly #claimants = new Map<string, ServiceClaim | readonly ServiceClaim[]>();

  /** @returns what may have another owner now: nothing for a Service that has nothing outside */
  replace(before: ServiceClaim | undefined, after: ServiceClaim | undefined): ReadonlySet<string> {
    const left = new Set(before && claimedAddresses(before));
    const joined = new Set(after && claimedAddresses(after));
    for (const thing of left) this.#set(thing, this.#without(thing, before));
    for (const thing of joined) if (after !== undefined) this.#set(thing, [...this.#at(thing), after]);
    return left.union(joined);
  }

  /** `namespace/name` */
  ownerOf(thing: string): string | undefined {
    const claimants = this.#at(thing);
    const first = claimants.length > 1 ? claimants.toSorted(byAge)[0] : claimants[0];
    return first && serviceKey(first);
  }

  #at(thing: string): readonly ServiceClaim[] {
    return [this.#claimants.get(thing) ?? []].flat();
  }

  #without(thing: string, service: ServiceClaim | undefined): readonly ServiceClaim[] {
    const gone = service && serviceKey(service);
    return this.#at(thing).filter((one) => serviceKey(one) !== gone);
  }

  #set(thing: string, claimants: readonly ServiceClaim[]): void {
    const [first, ...more] = claimants;
    if (first === undefined) this.#claimants.delete(thing);
    else this.#claimants.set(thing, more.length === 0 ? first : claimants);
  }
}

const byAge = (a: ServiceClaim, b: ServiceClaim): number => {
  const [left, right] = [a, b].map((one) => `${one.createdAt} ${serviceKey(one)}`);
  return (left ?? '') < (right ?? '') ? -1 : 1;
};
