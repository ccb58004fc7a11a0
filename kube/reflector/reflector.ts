/**
 * Mirrors a resource of the API, as client-go's Reflector does and client-node's informer does not: it survives resets,
 * silence, expired versions and garbage, asks for bookmarks, reads lists in pages and keeps projections, not objects.
 */
import { systemClock } from '../../base/clock.ts';
import { createOutage } from '../outage.ts';
import { createMirror } from './mirror.ts';
import { createProjectionStore } from './projection-store.ts';
import { createSyncFlag } from './sync-flag.ts';
import type { Reflector, ReflectorOptions, ReflectorTimings } from './types.ts';

const DEFAULT_TIMINGS: ReflectorTimings = {
  pageSize: 500,
  idleMs: 90_000,
  watchMinSeconds: 240,
  watchMaxSeconds: 480,
  backoffMinMs: 500,
  backoffMaxMs: 30_000,
  absentMs: 30_000,
  doubtMs: 250,
};

export const createReflector = <T, I extends string = never>(options: ReflectorOptions<T, I>): Reflector<T, I> => {
  const { clock = systemClock, random = Math.random, observe = () => {} } = options;
  const { outage = createOutage({ clock, random }) } = options;
  const store = createProjectionStore({ ...options, observe });
  const flag = createSyncFlag();
  let lastContact = Number.NEGATIVE_INFINITY;
  const mirror = createMirror({
    ...options,
    timings: { ...DEFAULT_TIMINGS, ...options.timings },
    store,
    clock,
    random,
    outage,
    isServing: () => options.outage === undefined || outage.hasServed,
    observe,
    onSynced: flag.set,
    onContact: () => {
      lastContact = clock.monotonic();
    },
  });
  return {
    run: mirror,
    get: store.get,
    has: store.has,
    keys: store.keys,
    values: store.values,
    entries: store.entries,
    byIndex: store.byIndex,
    keysByIndex: store.keysByIndex,
    subscribe: store.subscribe,
    bad: store.bad,
    get size() {
      return store.size;
    },
    get synced() {
      return flag.isSet;
    },
    whenSynced: flag.wait,
    silenceMs: () => clock.monotonic() - lastContact,
  };
};
