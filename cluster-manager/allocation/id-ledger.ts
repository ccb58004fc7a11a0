/** Who holds which number. No I/O and no clock: the same calls give the same numbers. */
import { allocateId, type IdPool, idPool, releaseId, reserveId } from '../../net/allocator/ids.ts';

export interface IdRange {
  readonly min: number;
  readonly max: number;
  /** Below this, numbers are only recovered, never given out. Default: `min`. */
  readonly firstGiven?: number;
}

export interface IdLedger {
  /**
   * Takes note of what an owner holds already.
   * @returns who holds it when it is another one; then nothing changes
   * @throws NetError ERR_NET_RANGE
   */
  recover(owner: string, id: number): string | undefined;
  /** The owner's number: the one it holds, or the lowest free one. @throws NetError ERR_NET_EXHAUSTED */
  assign(owner: string): number;
  /** Absent is success. */
  release(owner: string): void;
  get(owner: string): number | undefined;
  holderOf(id: number): string | undefined;
  readonly size: number;
}

export const createIdLedger = ({ min, max, firstGiven = min }: IdRange): IdLedger => {
  let given: IdPool = idPool(firstGiven, max);
  let low: IdPool = idPool(min, firstGiven - 1);
  const byOwner = new Map<string, number>();
  const byId = new Map<number, string>();

  const note = (owner: string, id: number): number => {
    byOwner.set(owner, id);
    byId.set(id, owner);
    return id;
  };
  const release = (owner: string): void => {
    const id = byOwner.get(owner);
    if (id === undefined) return;
    byOwner.delete(owner);
    byId.delete(id);
    if (id < firstGiven) low = releaseId(low, id);
    else given = releaseId(given, id);
  };
  return {
    recover: (owner, id) => {
      const holder = byId.get(id);
      if (holder !== undefined) return holder === owner ? undefined : holder;
      release(owner);
      if (id < firstGiven) low = reserveId(low, id);
      else given = reserveId(given, id);
      note(owner, id);
      return undefined;
    },
    assign: (owner) => {
      const held = byOwner.get(owner);
      if (held !== undefined) return held;
      const next = allocateId(given);
      given = next.pool;
      return note(owner, next.id);
    },
    release,
    get: (owner) => byOwner.get(owner),
    holderOf: (id) => byId.get(id),
    get size() {
      return byOwner.size;
    },
  };
};
