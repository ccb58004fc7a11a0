/** Up to when everything that was written to the northbound database is in effect: flows of it are on this node. */
export class InEffect {
  #raises: { readonly value: number; readonly at: number }[] = [];
  #until: number | undefined;

  /** The last moment that is proven; undefined: none is yet. */
  get until(): number | undefined {
    return this.#until;
  }

  /** @param value of `nb_cfg`, written after `at`, by a clock that never goes back, and after all that was written until then */
  raised(value: number, at: number): void {
    const last = this.#raises.at(-1);
    // A database that was created again counts from the beginning.
    if (last !== undefined && value <= last.value) this.#raises = [];
    this.#raises.push({ value, at });
    if (this.#raises.length > MAX_RAISES) this.#raises.splice(1, 1);
  }

  /** @param value that ovn-controller has come to */
  reached(value: number): void {
    const done = this.#raises.filter((raise) => raise.value <= value).at(-1);
    if (done === undefined) return;
    this.#until = done.at;
    this.#raises = this.#raises.filter((raise) => raise.value > value);
  }
}

/** Of a daemon that has stopped nothing more is proven: the first that it owes is kept, and the last ones. */
const MAX_RAISES = 64;
