/** Gives out integers of a range, lowest first. A value: every operation returns the next state. */
import { NetError } from '../errors.ts';
import { type Bitmap, emptyBitmap, firstGap, hasBit, withBit, withoutBit } from './bitmap.ts';

export interface IdPool {
  readonly min: number;
  readonly max: number;
  readonly used: Bitmap;
}

export const idPool = (min: number, max: number): IdPool => ({ min, max, used: emptyBitmap });

/** @throws NetError ERR_NET_EXHAUSTED */
export const allocateId = (pool: IdPool): { pool: IdPool; id: number } => {
  const id = firstGap(pool.used, BigInt(pool.min), BigInt(pool.max));
  if (id === undefined) {
    throw new NetError(
      'ERR_NET_EXHAUSTED',
      `all ids from ${pool.min} to ${pool.max} are in use`,
      `${pool.min}-${pool.max}`,
    );
  }
  return { pool: { ...pool, used: withBit(pool.used, id) }, id: Number(id) };
};

/**
 * Marks one id as used, for example when state is recovered.
 * @throws NetError ERR_NET_RANGE or, when it is taken already, ERR_NET_CONFLICT
 */
export const reserveId = (pool: IdPool, id: number): IdPool => {
  if (!Number.isInteger(id) || id < pool.min || id > pool.max) {
    throw new NetError('ERR_NET_RANGE', `${id} is not in ${pool.min}–${pool.max}`, String(id));
  }
  if (hasBit(pool.used, BigInt(id))) throw new NetError('ERR_NET_CONFLICT', `id ${id} is in use already`, String(id));
  return { ...pool, used: withBit(pool.used, BigInt(id)) };
};

/** Absent is success. */
export const releaseId = (pool: IdPool, id: number): IdPool => ({ ...pool, used: withoutBit(pool.used, BigInt(id)) });

export const isIdUsed = (pool: IdPool, id: number): boolean => hasBit(pool.used, BigInt(id));
