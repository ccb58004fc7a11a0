/**
 * What waits, in lanes: their turns go round, so that who has much waiting holds up nobody but himself. Within a lane the
 * oldest is first. Everything takes the same time, however many lanes there are.
 */
export interface FairLanes<Key, Value> {
  /** What waits under a key already is replaced, and keeps its place. */
  add(key: Key, value: Value): void;
  has(key: Key): boolean;
  /** Of a lane that has less under way than it may; where lanes are limited, what is taken has to be ended. */
  take(): readonly [Key, Value] | undefined;
  /** What was taken is not under way any more: the next of its lane may be. */
  end(key: Key): void;
  readonly size: number;
}

/** @param limitOf how much of one lane may be under way at once. Default: everything */
export const createFairLanes = <Key, Value>(
  laneOf: (key: Key) => string,
  limitOf?: (lane: string) => number,
): FairLanes<Key, Value> => {
  /** A Map keeps the order of insertion: the lane whose turn it is stands first. */
  const lanes = new Map<string, Map<Key, Value>>();
  /** Lanes that have as much under way as they may. */
  const held = new Map<string, Map<Key, Value>>();
  const underWay = new Map<string, number>();
  let size = 0;
  const isFull = (name: string): boolean => limitOf !== undefined && (underWay.get(name) ?? 0) >= limitOf(name);
  const put = (name: string, lane: Map<Key, Value>): void => {
    (isFull(name) ? held : lanes).set(name, lane);
  };
  const waitingIn = (name: string): Map<Key, Value> | undefined => lanes.get(name) ?? held.get(name);
  return {
    add: (key, value) => {
      const name = laneOf(key);
      const lane = waitingIn(name) ?? new Map<Key, Value>();
      if (!lane.has(key)) size += 1;
      put(name, lane.set(key, value));
    },
    has: (key) => waitingIn(laneOf(key))?.has(key) === true,
    take: () => {
      const first = lanes.entries().next().value;
      if (first === undefined) return undefined;
      const [name, lane] = first;
      const entry = lane.entries().next().value;
      lanes.delete(name);
      if (entry === undefined) return undefined;
      if (limitOf !== undefined) underWay.set(name, (underWay.get(name) ?? 0) + 1);
      lane.delete(entry[0]);
      if (lane.size > 0) put(name, lane);
      size -= 1;
      return entry;
    },
    end: (key) => {
      const name = laneOf(key);
      const left = (underWay.get(name) ?? 0) - 1;
      if (left > 0) underWay.set(name, left);
      else underWay.delete(name);
      const lane = held.get(name);
      if (lane === undefined || isFull(name)) return;
      held.delete(name);
      lanes.set(name, lane);
    },
    get size() {
      return size;
    },
  };
};
