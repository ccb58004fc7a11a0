/** Random choices that can be repeated. */
export interface Random {
  readonly seed: number;
  /** From 0 to below 1. */
  next(): number;
  /** @throws Error for an empty list */
  pick<Item>(items: readonly Item[]): Item;
}

/** The seed is that of the environment variable UDN_SEED, or another one each time. */
export const createRandom = (seed = Number(process.env['UDN_SEED'] ?? Date.now() % 1_000_000)): Random => {
  // mulberry32
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    seed,
    next,
    pick: (items) => {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
  };
};
