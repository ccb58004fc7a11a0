/** Networks whose NADs are being written: what they have is theirs although no NAD that was seen says so. No I/O and no clock. */
import { addTo, removeFrom, type StringSets } from './string-sets.ts';

export class NetworkReservations {
  readonly #nads: StringSets = new Map();
  /** NAD → networks: two may want one NAD's name. */
  readonly #networks: StringSets = new Map();

  has(network: string): boolean {
    return this.#nads.has(network);
  }

  add(network: string, nadKey: string): void {
    addTo(this.#nads, network, nadKey);
    addTo(this.#networks, nadKey, network);
  }

  /** The NAD was seen, or it is known that it will not come. @returns the networks that wait for no other one */
  settle(nadKey: string): readonly string[] {
    const networks = [...(this.#networks.get(nadKey) ?? [])];
    this.#networks.delete(nadKey);
    for (const network of networks) removeFrom(this.#nads, network, nadKey);
    return networks.filter((network) => !this.#nads.has(network));
  }
}
