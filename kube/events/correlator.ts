/**
 * Decides what becomes of an event: a new one, a repetition, a part of a combined one, or nothing because there are too
 * many (the numbers are client-go's EventCorrelator's). Knows time only as a number.
 */

import { createRecentMap } from '../recent-map.ts';
import { createTokenBuckets } from '../token-buckets.ts';
import { aboutKey, sameEventKey, shortMessage, similarEventKey } from './event-key.ts';
import type { EventInput } from './types.ts';

export type Decision =
  | { readonly kind: 'drop' }
  | {
      readonly kind: 'write';
      /** Repetitions with the same key are the same Event. */
      readonly key: string;
      readonly message: string;
      readonly count: number;
      readonly firstSeen: number;
    };

export interface Correlator {
  /** @param now milliseconds since the epoch */
  decide(event: EventInput, now: number): Decision;
}

/** Events about one object. */
const OBJECT_RATE = { burst: 25, refillMs: 300_000 };
/** Objects that are made and deleted again and again are always new ones: so those of a namespace are rationed together, too. */
const NAMESPACE_RATE = { burst: 200, refillMs: 1000 };
/** From so many different messages within the time on they are combined. */
const MAX_SIMILAR = 10;
const SIMILAR_WINDOW_MS = 600_000;
/** What is remembered of each sort. */
const MEMORY = 4096;

interface Similar {
  messages: Set<string>;
  since: number;
}

interface Seen {
  count: number;
  readonly firstSeen: number;
}

export const createCorrelator = (): Correlator => {
  const objects = createTokenBuckets(OBJECT_RATE, MEMORY);
  const namespaces = createTokenBuckets(NAMESPACE_RATE, MEMORY);
  const isRationed = (event: EventInput, now: number): boolean => {
    const { namespace } = event.regarding;
    if (!objects.take(aboutKey(event), now)) return true;
    return namespace !== undefined && !namespaces.take(namespace, now);
  };
  const similar = createRecentMap<Similar>(MEMORY);
  const seen = createRecentMap<Seen>(MEMORY);
  return {
    decide: (event, now) => {
      const combined = isCombined(
        similar.ensure(similarEventKey(event), () => ({ messages: new Set(), since: now })),
        event,
        now,
      );
      const key = combined ? similarEventKey(event) : sameEventKey(event);
      const entry = seen.ensure(key, () => ({ count: 0, firstSeen: now }));
      entry.count += 1;
      if (isRationed(event, now)) return { kind: 'drop' };
      const message = combined ? `(combined from similar events): ${event.message}` : event.message;
      return { kind: 'write', key, message: shortMessage(message), count: entry.count, firstSeen: entry.firstSeen };
    },
  };
};

const isCombined = (group: Similar, { message }: EventInput, now: number): boolean => {
  if (now - group.since > SIMILAR_WINDOW_MS) {
    group.messages.clear();
    group.since = now;
  }
  if (group.messages.size < MAX_SIMILAR) group.messages.add(message);
  return group.messages.size >= MAX_SIMILAR;
};
