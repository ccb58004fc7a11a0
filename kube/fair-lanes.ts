/**
 * What waits, in lanes: their turns go round, so that who has much waiting holds up nobody but himself. Within a lane the
 * oldest is first. Everything takes the same time, however many lanes there are.
 */
export interface FairLanes<Key, Value> {
  /** What waits under a key already is replaced, and keeps its place. */
  add(key: Key, value: Value): void;
  has(key: Key): boolean;
  take(): readonly [Key, Value] | undefined;
  readonly size: number;
}

export const createFairLanes = <Key, Value>(laneOf: (key: Key) => string): FairLanes<Key, Value> => {
  /** A Map keeps the order of insertion: the lane whose turn it is stands first. */
  const lanes = new Map<string, Map<Key, Value>>();
  let size = 0;
  return {
    add: (key, value) => {
      const name = laneOf(key);
      const lane = lanes.get(name) ?? new Map<Key, Value>();
      if (!lane.has(key)) size += 1;
      lanes.set(name, lane.set(key, value));
    },
    has: (key) => lanes.get(laneOf(key))?.has(key) === true,
    take: () => {
      const first = lanes.entries().next().value;
      if (first === undefined) return undefined;
      const [name, lane] = first;
      const entry = lane.entries().next().value;
      lanes.delete(name);
      if (entry === undefined) return undefined;
      lane.delete(entry[0]);
      if (lane.size > 0) lanes.set(name, lane);
      size -= 1;
      return entry;
    },
    get size() {
      return size;
    },
  };
};
