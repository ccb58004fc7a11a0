/**
 * What is made of a text, made once for a while: for what the same few texts are asked for again and again.
 * @param capacity so many are remembered at most: then it begins anew
 * @returns a function of the same result
 */
export const remembering = <Value>(make: (text: string) => Value, capacity: number): ((text: string) => Value) => {
  const known = new Map<string, Value>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const value = make(text);
    if (known.size >= capacity) known.clear();
    known.set(text, value);
    return value;
  };
};
