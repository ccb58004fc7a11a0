import { expect, it } from 'vitest';
import { cellId, cells, everyCellBetween, LEFT_OUT, reasonAgainst } from './cells.ts';
import { ENTRY_POINTS } from './dimensions/entry-points.ts';
import { SOURCES } from './dimensions/sources.ts';

const all = cells();

it('has no cell twice', () => {
  expect(new Set(all.map(cellId)).size).toBe(all.length);
});

it('has every entry point attacked by every source, over each of its families', () => {
  const attacked = new Set(all.map(({ source, entry, family }) => `${source} → ${entry.name}, IPv${family}`));
  const expected = SOURCES.flatMap((source) =>
    ENTRY_POINTS.flatMap(({ name, families }) => families.map((family) => `${source} → ${name}, IPv${family}`)),
  );
  expect(expected.filter((one) => !attacked.has(one))).toEqual([]);
});

it('attacks a new entry point at once', () => {
  const entry = { name: 'of a new feature', families: [4, 6] as const, of: () => [] };
  const found = cells([entry]);
  expect(new Set(found.map(({ source }) => source))).toEqual(new Set(SOURCES));
  expect(found.length).toBeGreaterThan(3000);
});

it('leaves nothing out without a reason, and has no reason for nothing', () => {
  const used = new Set<string | undefined>();
  for (const name of ['tunnel endpoint', 'pod', 'limited broadcast']) {
    const entry = ENTRY_POINTS.find((one) => one.name === name);
    if (entry === undefined) throw new Error(`there is no ${name}`);
    for (const source of ['pod of a layer-3 network', 'host outside', 'process of root'] as const) {
      const reasons = everyCellBetween(source, entry).map(reasonAgainst);
      for (const reason of reasons) used.add(reason);
      const kept = all.filter((cell) => cell.source === source && cell.entry === entry);
      expect(kept).toHaveLength(reasons.filter((reason) => reason === undefined).length);
    }
  }
  expect(LEFT_OUT.map(({ why }) => why).filter((why) => !used.has(why))).toEqual([]);
});
