/** What the parts of the server share. */
import type { Clock } from '../../base/clock.ts';
import type { ServiceAddresses } from './definitions/types.ts';
import type { Registry } from './registry.ts';
import type { Snapshots } from './store/snapshots.ts';
import type { Store } from './store/store.ts';

export interface ServerContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly snapshots: Snapshots;
  readonly services: ServiceAddresses;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly bookmarkIntervalMs: number;
}

/** RFC 3339 with seconds: metav1.Time. */
export const timestamp = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
