/** How often something may happen to each of many: so many times at once, then once in a while. Knows time only as a number. */
import { createRecentMap } from './recent-map.ts';

export interface Rate {
  readonly burst: number;
  /** Milliseconds until there is one more. */
  readonly refillMs: number;
}

export interface TokenBuckets {
  /** @returns false: not now */
  take(key: string, now: number): boolean;
  /**
   * Takes one that is still to come when there is none. For whoever reserves the next one only after that time: it takes one in
   * advance, never more. @returns the milliseconds until then, `refillMs` at most
   */
  reserve(key: string, now: number): number;
}

interface Bucket {
  /** Below zero: taken in advance. */
  tokens: number;
  at: number;
}

/** @param memory how many are remembered; who has been quiet for longest is forgotten, and restarts */
export const createTokenBuckets = ({ burst, refillMs }: Rate, memory = 4096): TokenBuckets => {
  const buckets = createRecentMap<Bucket>(memory);
  const filled = (key: string, now: number): Bucket => {
    const bucket = buckets.ensure(key, () => ({ tokens: burst, at: now }));
    bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, now - bucket.at) / refillMs);
    bucket.at = now;
    return bucket;
  };
  return {
    take: (key, now) => {
      const bucket = filled(key, now);
      if (bucket.tokens < 1) return false;
      bucket.tokens -= 1;
      return true;
    },
    reserve: (key, now) => {
      const bucket = filled(key, now);
      // A clock that rings early, as in tests, would else add up to minutes of what nobody waits for.
      bucket.tokens = Math.max(-1, bucket.tokens - 1);
      return Math.max(0, -bucket.tokens * refillMs);
    },
  };
};
