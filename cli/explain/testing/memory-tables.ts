/** Tables of a database that are only selected from, for tests. */
import type { Transact } from '../../flows/datapaths.ts';
import type { Row } from '../../node/wire-values.ts';

/** A condition on a column has to match. */
export const memoryTables =
  (tables: Readonly<Record<string, readonly Row[]>>): Transact =>
  (operations) =>
    Promise.resolve(
      operations.map((operation) => {
        if (operation.op !== 'select') throw new Error(`not asked for: ${operation.op}`);
        const rows = (tables[operation.table] ?? []).filter((row) =>
          operation.where.every(([column, , value]) => JSON.stringify(row[column]) === JSON.stringify(value)),
        );
        return { rows } as never;
      }),
    );
