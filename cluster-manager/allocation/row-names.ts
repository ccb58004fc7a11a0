/**
 * Who has the names of OVN rows: `a.b` and `a-b` are two networks whose rows would have the same ones. The first keeps them
 * for itself. No I/O and no clock.
 */
import { networkPrefix } from '../../api/names.ts';
import { addTo, removeFrom, type StringSets } from './string-sets.ts';

export class RowNames {
  /** Prefix of the names → network. */
  readonly #holders = new Map<string, string>();
  /** Prefix → networks that would have it, too. */
  readonly #waiting: StringSets = new Map();

  isTaken(network: string): boolean {
    return (this.#holders.get(networkPrefix(network)) ?? network) !== network;
  }

  /** @throws Error when another network has them; then this one waits */
  claim(network: string): void {
    const prefix = networkPrefix(network);
    const holder = this.#holders.get(prefix) ?? network;
    if (holder !== network) {
      addTo(this.#waiting, prefix, network);
      throw new Error(`its OVN rows would have the same names as those of network ${holder}`);
    }
    removeFrom(this.#waiting, prefix, network);
    this.#holders.set(prefix, network);
  }

  /** The network is gone, and waits no more. @returns who may have them now */
  release(network: string): string | undefined {
    const prefix = networkPrefix(network);
    removeFrom(this.#waiting, prefix, network);
    if (this.#holders.get(prefix) !== network) return undefined;
    this.#holders.delete(prefix);
    return this.#waiting.get(prefix)?.values().next().value;
  }
}
