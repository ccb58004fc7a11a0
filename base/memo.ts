/**
 * Remembers what a pure function made of a text: for what the same few texts are asked for again and again, as flows have few different
 * actions. A small memory that restarts when it is full is then as good as a large one. A failure is not remembered.
 * @param most so many texts are remembered
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
