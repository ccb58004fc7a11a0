/** Items by when they are due: a binary heap, as there are thousands and each waits for its own time. */
export class DueQueue<Item extends object> {
  readonly #heap: { readonly item: Item; readonly due: number }[] = [];
  /** Where each item's last entry is due; others of it are outdated. */
  readonly #due = new Map<Item, number>();

  /** In place of its time before. */
  set(item: Item, due: number): void {
    if (this.#due.get(item) === due) return;
    this.#due.set(item, due);
    this.#push({ item, due });
    // Outdated entries are dropped when they come first, and are never more than the others for long.
    if (this.#heap.length > 2 * this.#due.size + SLACK) this.#rebuild();
  }

  delete(item: Item): void {
    this.#due.delete(item);
  }

  /** When the first is due; undefined: there is none. */
  peek(): number | undefined {
    this.#dropOutdated();
    return this.#heap[0]?.due;
  }

  /** Removes the first that is due by then. */
  take(now: number): Item | undefined {
    this.#dropOutdated();
    const [first] = this.#heap;
    if (first === undefined || first.due > now) return undefined;
    this.#pop();
    this.#due.delete(first.item);
    return first.item;
  }

  #dropOutdated(): void {
    for (let [first] = this.#heap; first !== undefined && this.#due.get(first.item) !== first.due; [first] = this.#heap)
      this.#pop();
  }

  #rebuild(): void {
    this.#heap.length = 0;
    for (const [item, due] of this.#due) this.#push({ item, due });
  }

  #push(entry: { readonly item: Item; readonly due: number }): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || parent.due <= entry.due) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const below =
        (heap[left + 1]?.due ?? Number.POSITIVE_INFINITY) < (heap[left]?.due ?? Number.POSITIVE_INFINITY)
          ? left + 1
          : left;
      const child = heap[below];
      if (child === undefined || child.due >= last.due) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }
}

const SLACK = 64;
