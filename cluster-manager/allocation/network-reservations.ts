/** Networks whose NADs are being written: what they have is theirs although no NAD that was seen says so. No I/O and no clock. */
import { MultiMap } from '../../base/multi-map.ts';

export class NetworkReservations {
  readonly #nads = new MultiMap<string>();
  /** NAD → networks: two may want one NAD's name. */
  readonly #networks = new MultiMap<string>();

  has(network: string): boolean {
    return this.#nads.has(network);
  }

  add(network: string, nadKey: string): void {
    this.#nads.add(network, nadKey);
    this.#networks.add(nadKey, network);
  }

  /** The NAD was seen, or it is known that it will not come. @returns the networks that wait for no other one */
  settle(nadKey: string): readonly string[] {
    const networks = [...this.#networks.get(nadKey)];
    for (const network of networks) {
      this.#nads.delete(network, nadKey);
      this.#networks.delete(nadKey, network);
    }
    return networks.filter((network) => !this.has(network));
  }
}
