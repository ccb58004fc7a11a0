/**
 * Remembers what a pure function said. Flows have few different actions and values, and those that are alike come one after
 * the other (a network's), so a small memory that restarts when it is full is as good as a large one.
 */
export const memo = <T>(make: (text: string) => T, most = 1_024): ((text: string) => T) => {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = make(text);
    if (known.size >= most) known.clear();
    known.set(text, made);
    return made;
  };
};
