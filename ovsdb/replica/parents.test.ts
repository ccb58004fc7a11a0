import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Uuid } from '../uuid.ts';
import { ParentIndex } from './parents.ts';
import type { AnyRow } from './row.ts';

const COLUMNS = ['a', 'b'].map((column) => ({ table: 'Parent', column, child: 'Child' }));

const child = fc.constantFrom('x', 'y');
const row = fc.record({ a: fc.uniqueArray(child), b: fc.uniqueArray(child) });

it('knows every parent of a child, however many there are and by whichever column they refer to it', () => {
  const step = fc.tuple(fc.constantFrom('1', '2', '3'), fc.option(row, { nil: undefined }));
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const index = new ParentIndex(COLUMNS);
      const rows = new Map<string, { readonly a: readonly string[]; readonly b: readonly string[] }>();
      for (const [uuid, after] of steps) {
        const change = { before: rows.get(uuid), after } as unknown as { before: AnyRow; after: AnyRow };
        index.update({ table: 'Parent', uuid: uuid as Uuid, columns: ['a', 'b'], ...change });
        if (after === undefined) rows.delete(uuid);
        else rows.set(uuid, after);
        for (const name of ['x', 'y']) {
          const parents = [...rows].filter(([, { a, b }]) => a.includes(name) || b.includes(name));
          expect([...index.of(name as Uuid)].sort()).toEqual(parents.map(([parent]) => parent).sort());
        }
      }
    }),
  );
});
