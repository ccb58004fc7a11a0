/**
 * Who has the names of OVN rows: `a.b` and `a-b` are two networks whose rows would have the same ones, and so are `red` and
 * `ext_red`. The first keeps them for itself. No I/O and no clock.
 */
import { DEFAULT_NETWORK_NAME, rowNameStems } from '../../api/names.ts';
import { MultiMap } from '../../base/multi-map.ts';

export class RowNames {
  /** What names begin with → network. */
  readonly #holders = new Map<string, string>();
  /** What names begin with → networks that would have it, too. */
  readonly #waiting = new MultiMap<string>();

  constructor() {
    this.claim(DEFAULT_NETWORK_NAME);
  }

  isTaken(network: string): boolean {
    return this.#rivalOf(network) !== undefined;
  }

  /** @throws Error when another network has them; then this one waits */
  claim(network: string): void {
    const stems = rowNameStems(network);
    const rival = this.#rivalOf(network);
    if (rival !== undefined) {
      for (const stem of stems) this.#waiting.add(stem, network);
      throw new Error(`its OVN rows would have the same names as those of network ${rival}`);
    }
    for (const stem of stems) {
      this.#waiting.delete(stem, network);
      this.#holders.set(stem, network);
    }
  }

  /** The network has worked with them before a restart, unless another one did. To be called with the oldest first. */
  recover(network: string): void {
    if (!this.isTaken(network)) this.claim(network);
  }

  /** The network is gone, and waits no more. @returns who may have them now, first come first */
  release(network: string): readonly string[] {
    const free = rowNameStems(network).filter((stem) => {
      this.#waiting.delete(stem, network);
      return this.#holders.get(stem) === network && this.#holders.delete(stem);
    });
    return [...new Set(free.flatMap((stem) => [...this.#waiting.get(stem)]))];
  }

  #rivalOf(network: string): string | undefined {
    return rowNameStems(network)
      .map((stem) => this.#holders.get(stem))
      .find((holder) => holder !== undefined && holder !== network);
  }
}
