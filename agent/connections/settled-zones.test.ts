import { expect, it } from 'vitest';
import type { Uuid } from '../../ovsdb/uuid.ts';
import { SettledZones } from './settled-zones.ts';
import type { LimitedZone, ZoneChange } from './zone-plan.ts';

const INSERT: ZoneChange = { kind: 'insert', zone: 3, name: 'red_a', limit: 8 };
const REMOVE: ZoneChange = { kind: 'remove', zone: 4 };
const names = new Map([[3, 'red_a']]);
const NO_ROWS = new Map<number, LimitedZone>();

it('waits for each zone by itself, and for none that has to go', () => {
  const zones = new SettledZones();
  const both = { names: new Map([...names, [5, 'red_b']]), rows: NO_ROWS };
  expect(zones.due([INSERT, REMOVE], both, 1000)).toEqual({ due: [REMOVE], nextMs: 200 });
  const other: ZoneChange = { kind: 'insert', zone: 5, name: 'red_b', limit: 8 };
  expect(zones.due([INSERT, other], both, 1150)).toEqual({ due: [], nextMs: 50 });
  expect(zones.due([INSERT, other], both, 1200)).toEqual({ due: [INSERT], nextMs: 150 });
});

it('waits anew when the zone is given to another one', () => {
  const zones = new SettledZones();
  zones.due([INSERT], { names, rows: NO_ROWS }, 1000);
  const later = { names: new Map([[3, 'blue_a']]), rows: NO_ROWS };
  expect(zones.due([{ ...INSERT, name: 'blue_a' }], later, 1200).nextMs).toBe(200);
});

it('waits twice as long each time that what it wrote is gone, up to five seconds', () => {
  const zones = new SettledZones();
  const here = { names, rows: NO_ROWS };
  const waits = [];
  let now = 0;
  for (let round = 0; round < 7; round += 1) {
    const { nextMs = 0 } = zones.due([INSERT], here, now);
    waits.push(nextMs);
    now += nextMs;
    expect(zones.due([INSERT], here, now).due).toEqual([INSERT]);
    zones.written([INSERT]);
    now += 10;
  }
  expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
});

it('forgets zones that are gone', () => {
  const zones = new SettledZones();
  zones.due([INSERT], { names, rows: NO_ROWS }, 0);
  zones.due([], { names: new Map(), rows: NO_ROWS }, 100);
  expect(zones.due([INSERT], { names, rows: NO_ROWS }, 200).nextMs).toBe(200);
});

it('a row that changes is not settled', () => {
  const zones = new SettledZones();
  const update: ZoneChange = { kind: 'update', zone: 3, name: 'red_a', limit: 8, row: 'x' as Uuid };
  const rows = (limit: number) => new Map([[3, { uuid: 'x' as Uuid, limit, writtenFor: undefined }]]);
  zones.due([update], { names, rows: rows(1) }, 0);
  expect(zones.due([update], { names, rows: rows(2) }, 200)).toEqual({ due: [], nextMs: 200 });
});

it('keeps the limit of what OVN has no more for ten seconds, each time anew', () => {
  const zones = new SettledZones();
  const here = { names, rows: new Map([[3, { uuid: 'row' as Uuid, limit: 8, writtenFor: 'red_a' }]]) };
  const orphan: ZoneChange = { kind: 'remove', zone: 3, isOrphan: true };
  expect(zones.due([orphan], here, 1000)).toEqual({ due: [], nextMs: 10_000 });
  expect(zones.due([], here, 9000)).toEqual({ due: [], nextMs: undefined });
  expect(zones.due([orphan], here, 12_000)).toEqual({ due: [], nextMs: 10_000 });
  expect(zones.due([orphan], here, 22_000)).toEqual({ due: [orphan], nextMs: undefined });
});
