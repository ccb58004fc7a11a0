/** What a reconcile loop keeps as a place that can be compared. */
import type { BackendName } from '../../api/agent-status.ts';
import type { Difference } from '../../datapath/backend.ts';
import type { ReconcileLoop } from '../reconcile/reconcile-loop.ts';
import type { Place } from './places.ts';

/** What a backend has beside what its loop needs of it. */
export interface Comparable<Item> {
  /** Reads everything, changes nothing. */
  difference(wanted: ReadonlyMap<string, Item>, signal: AbortSignal): Promise<readonly Difference[]>;
}

export const itemPlace = <Item>(
  backend: BackendName,
  { store, problems }: Pick<ReconcileLoop<Item>, 'store' | 'problems'>,
  comparable: Comparable<Item>,
): Place => ({
  backend,
  wanted: () => store.wanted.keys(),
  ownersOf: (key) => store.ownersOf(key),
  problemOf: (key) => problems.get(key)?.message,
  *unsupported() {
    for (const [key, { kind, message }] of problems) if (kind === 'unsupported') yield { key, message };
  },
  // What this machine cannot have at all is a problem of the node, and no difference that anything can be done about.
  differences: async (signal) =>
    (await comparable.difference(store.wanted, signal))
      .filter(({ key }) => problems.get(key)?.kind !== 'unsupported')
      .map((one) => ({ ...one, owners: store.ownersOf(one.key) })),
});
