/** A limit of how many do something at once. The others wait in order. */
export interface Slots {
  /** Calls back, at once or later, with what gives the slot back, which is also returned: before that it ends the waiting. */
  enter(callback: (leave: () => void) => void): () => void;
}

export const createSlots = (count: number): Slots => {
  const waiting = new Set<() => void>();
  const inside = new Set<() => void>();
  const admit = (): void => {
    for (const begin of waiting) {
      if (inside.size >= count) return;
      waiting.delete(begin);
      inside.add(begin);
      begin();
    }
  };
  return {
    enter: (callback) => {
      const begin = (): void => callback(leave);
      const leave = (): void => {
        waiting.delete(begin);
        if (inside.delete(begin)) admit();
      };
      waiting.add(begin);
      admit();
      return leave;
    },
  };
};
