import type { Clock } from '../../../base/clock.ts';
import type { RowStore } from '../../replica/row-store.ts';
import type { Uuid } from '../../uuid.ts';

/** How long the replica may take to show what a transaction has inserted, where the server does not tell that first. */
const MAX_DELAY_MS = 1_000;

/** ovsdb-server tells of changes before it replies to the transaction that made them; a relay does not (ovsdb(7)). */
export const allSeen = async (
  store: RowStore,
  rows: readonly { readonly table: string; readonly uuid: Uuid }[],
  clock: Clock,
): Promise<void> => {
  const missing = rows.filter(({ table, uuid }) => store.get(table, uuid) === undefined);
  if (missing.length === 0) return;
  const timeout = new AbortController();
  const cancel = clock.schedule(MAX_DELAY_MS, () => timeout.abort());
  const waits = missing.map(({ table, uuid }) =>
    store.waiters.wait(table, { uuid }, () => store.get(table, uuid), timeout.signal),
  );
  await Promise.allSettled(waits);
  cancel();
};
