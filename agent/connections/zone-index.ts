/**
 * The zones of this node, and which of them an update is about. There are a dozen for each network, and with every pod some change: what is
 * compared then are these, and not all.
 */
import { MultiMap } from '../../base/multi-map.ts';
import type { Uuid } from '../../ovsdb/uuid.ts';
import { zoneNameOf } from './zone-owners.ts';

type Entries<Value extends string> = Readonly<Record<string, Value>>;

export class ZoneIndex {
  #ids: Entries<string> = {};
  #rows: Entries<Uuid> = {};
  readonly #names = new Map<number, string>();
  /** By number as text: for a moment a number may be that of two. */
  readonly #namesOf = new MultiMap<string>();
  readonly #zoneOfName = new Map<string, number>();
  readonly #zoneOfRow = new Map<Uuid, number>();
  readonly #changed = new Set<number>();

  /** By number. */
  get names(): ReadonlyMap<number, string> {
    return this.#names;
  }

  /** @param ids `external_ids` of br-int, as they are now: it costs a look at each that has changed @param rows `ct_zones` of the datapath */
  follow(ids: Entries<string>, rows: Entries<Uuid>): void {
    for (const [key, before, after] of differences(this.#ids, ids)) this.#rename(key, before, after);
    for (const [zone, before, after] of differences(this.#rows, rows)) {
      if (before !== undefined && this.#zoneOfRow.get(before) === Number(zone)) this.#zoneOfRow.delete(before);
      if (after !== undefined) this.#zoneOfRow.set(after, Number(zone));
      this.#changed.add(Number(zone));
    }
    [this.#ids, this.#rows] = [ids, rows];
  }

  /** What this port, or this router's or switch's zone, is limited to may be different now. */
  touchName(name: string): void {
    const zone = this.#zoneOfName.get(name);
    if (zone !== undefined) this.#changed.add(zone);
  }

  /** A row of CT_Zone came, changed or went. */
  touchRow(row: Uuid): void {
    const zone = this.#zoneOfRow.get(row);
    if (zone !== undefined) this.#changed.add(zone);
  }

  touch(zone: number): void {
    this.#changed.add(zone);
  }

  touchAll(): void {
    for (const zone of [...this.#names.keys(), ...this.#zoneOfRow.values()]) this.#changed.add(zone);
  }

  /** Zones that were touched since, each once. */
  take(): ReadonlySet<number> {
    const taken = new Set(this.#changed);
    this.#changed.clear();
    return taken;
  }

  #rename(key: string, before: string | undefined, after: string | undefined): void {
    const [old, now] = [before, after].map((zone) => (zone === undefined ? undefined : zoneNameOf(key, zone)));
    if (old !== undefined) {
      const [zone, name] = old;
      this.#namesOf.delete(String(zone), name);
      this.#zoneOfName.delete(name);
      this.#settle(zone);
    }
    if (now !== undefined) {
      const [zone, name] = now;
      this.#namesOf.add(String(zone), name);
      this.#zoneOfName.set(name, zone);
      this.#settle(zone);
    }
  }

  #settle(zone: number): void {
    const name = [...this.#namesOf.get(String(zone))].at(-1);
    if (name === undefined) this.#names.delete(zone);
    else this.#names.set(zone, name);
    this.#changed.add(zone);
  }
}

/** What has gone or changed first. */
const differences = <Value extends string>(
  before: Entries<Value>,
  after: Entries<Value>,
): [key: string, before: Value | undefined, after: Value | undefined][] => {
  if (before === after) return [];
  const gone: [string, Value | undefined, Value | undefined][] = [];
  const come: [string, Value | undefined, Value | undefined][] = [];
  for (const key in before) if (before[key] !== after[key]) gone.push([key, before[key], undefined]);
  for (const key in after) if (before[key] !== after[key]) come.push([key, undefined, after[key]]);
  return [...gone, ...come];
};
