/** The NADs of one network. A ClusterUserDefinedNetwork may have one in each of 1,000 namespaces: a change costs what it touches. */
import type { NadProjection } from './nad-projection.ts';

export class NetworkNads {
  readonly #nads = new Map<string, NadProjection>();
  #definition: NadProjection | undefined;

  /** The NAD that says what the network is: the oldest that has an id. */
  get definition(): NadProjection | undefined {
    return this.#definition;
  }

  get isEmpty(): boolean {
    return this.#nads.size === 0;
  }

  add(nad: NadProjection): void {
    this.#nads.set(nad.key, nad);
    if (nad.keys !== undefined && (this.#definition === undefined || isOlder(nad, this.#definition)))
      this.#definition = nad;
  }

  delete({ key }: NadProjection): void {
    this.#nads.delete(key);
    if (this.#definition?.key !== key) return;
    this.#definition = this.#nads
      .values()
      .filter(({ keys }) => keys !== undefined)
      .reduce<NadProjection | undefined>(
        (oldest, nad) => (oldest === undefined || isOlder(nad, oldest) ? nad : oldest),
        undefined,
      );
  }

  get(key: string): NadProjection | undefined {
    return this.#nads.get(key);
  }

  values(): Iterable<NadProjection> {
    return this.#nads.values();
  }
}

const isOlder = (a: NadProjection, b: NadProjection): boolean => ageKey(a) < ageKey(b);

/** As the cluster manager compares them: by namespace, then by name. A space is less than all that these may have. */
export const ageKey = ({ createdAt, key }: NadProjection): string => `${createdAt} ${key.replace('/', ' ')}`;
