/**
 * What was written and has not come back by a mirror: a mirror that lags shows an object as it was before, and who believes it
 * would write the same again. No I/O and no clock.
 */
export interface OwnWrites {
  /** @param part of the object that is written by itself @param version of the object that has what was written */
  note(key: string, part: string, text: string, version: string): void;
  /** What was written last, as long as what the mirror shows is older than that. @param shown version in the mirror */
  underWay(key: string, part: string, shown: string): string | undefined;
  /** The object is gone. */
  forget(key: string): void;
}

interface Write {
  readonly text: string;
  readonly version: string;
}

export const createOwnWrites = (): OwnWrites => {
  /** Key → part. Only of objects that were not asked for since the mirror showed them. */
  const writes = new Map<string, Map<string, Write>>();
  return {
    note: (key, part, text, version) => {
      writes.set(key, (writes.get(key) ?? new Map<string, Write>()).set(part, { text, version }));
    },
    underWay: (key, part, shown) => {
      const parts = writes.get(key);
      const write = parts?.get(part);
      if (write === undefined || isOlder(shown, write.version)) return write?.text;
      parts?.delete(part);
      if (parts?.size === 0) writes.delete(key);
      return undefined;
    },
    forget: (key) => writes.delete(key),
  };
};

/**
 * Versions of one kind of object can be compared as decimal numbers (Kubernetes API concepts, "Resource versions"). Where they
 * are something else, none is older.
 */
const isOlder = (a: string, b: string): boolean => {
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return false;
  return a.length === b.length ? a < b : a.length < b.length;
};
