/** Counts the rules that name a set of peers, by family: it exists in the families of these rules, and has addresses of no other. */
import { FAMILIES, type Family, type Ip, ipFamily } from '../../../net/ip.ts';

export class SetUses {
  readonly #counts = { 4: 0, 6: 0 };
  #families: readonly Family[] = [];

  get families(): readonly Family[] {
    return this.#families;
  }

  /** @returns whether it is the first of its family */
  add(family: Family): boolean {
    this.#counts[family] += 1;
    return this.#update(family, 1);
  }

  /** @returns whether it was the last of its family */
  remove(family: Family): boolean {
    this.#counts[family] -= 1;
    return this.#update(family, 0);
  }

  /** The addresses of a peer that are in the set: usually the list itself, which is held once. */
  ofFamilies(ips: readonly Ip[]): readonly Ip[] {
    const isOwn = (ip: Ip): boolean => this.#counts[ipFamily(ip)] > 0;
    return ips.every(isOwn) ? ips : ips.filter(isOwn);
  }

  #update(family: Family, edge: number): boolean {
    if (this.#counts[family] !== edge) return false;
    this.#families = FAMILIES.filter((one) => this.#counts[one] > 0);
    return true;
  }
}
