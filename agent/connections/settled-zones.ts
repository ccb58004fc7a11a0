/**
 * Which zones have been as they are for a while, so that ovn-controller is done with them. It removes the row of a zone that it gives to
 * a port or router, in each of its rounds until one has changed nothing (ADR 138): where a row that was written is gone, its zone waits
 * twice as long.
 */
import type { LimitedZone, ZoneChange, ZonesHere } from './zone-plan.ts';

interface ZoneState {
  /** Its name and its row. */
  readonly what: string;
  readonly since: number;
  readonly wait: number;
  readonly isWritten: boolean;
}

/** ovn-controller's next round without news takes some milliseconds. */
const SETTLED_MS = 200;
const LONGEST_MS = 5000;
/** While the northbound database is filled again, what a zone had it keeps. */
const ORPHAN_MS = 10_000;

export class SettledZones {
  readonly #states = new Map<number, ZoneState>();
  /** Since when they are. */
  #orphans: ReadonlyMap<number, number> = new Map();

  /** @param now monotonic milliseconds @returns what may be written now, and in how many milliseconds there is more; undefined: never */
  due(
    changes: readonly ZoneChange[],
    { names, rows }: Pick<ZonesHere, 'names' | 'rows'>,
    now: number,
  ): { readonly due: readonly ZoneChange[]; readonly nextMs: number | undefined } {
    for (const zone of this.#states.keys()) if (!names.has(zone)) this.#states.delete(zone);
    this.#orphans = new Map(
      changes.flatMap((change) =>
        isOrphaned(change) ? [[change.zone, this.#orphans.get(change.zone) ?? now] as const] : [],
      ),
    );
    const due: ZoneChange[] = [];
    let nextMs: number | undefined;
    for (const change of changes) {
      const left = this.#left(change, { names, rows }, now);
      if (left <= 0) due.push(change);
      else nextMs = Math.min(nextMs ?? left, left);
    }
    return { due, nextMs };
  }

  written(changes: readonly ZoneChange[]): void {
    for (const { zone } of changes) {
      const state = this.#states.get(zone);
      if (state !== undefined) this.#states.set(zone, { ...state, isWritten: true });
    }
  }

  /** Milliseconds that it has to wait. */
  #left(change: ZoneChange, { names, rows }: Pick<ZonesHere, 'names' | 'rows'>, now: number): number {
    const { zone, kind } = change;
    const { since, wait } = this.#see(zone, names.get(zone), rows.get(zone), now);
    if (kind !== 'remove') return since + wait - now;
    const orphaned = this.#orphans.get(zone);
    return orphaned === undefined ? 0 : orphaned + ORPHAN_MS - now;
  }

  #see(zone: number, name: string | undefined, row: LimitedZone | undefined, now: number): ZoneState {
    const what = `${name} ${row?.uuid ?? ''} ${row?.limit ?? ''}`;
    const before = this.#states.get(zone);
    if (before?.what === what && !before.isWritten) return before;
    const isUndone = before?.isWritten === true && row === undefined && before.what.startsWith(`${name} `);
    const wait = isUndone ? Math.min(2 * before.wait, LONGEST_MS) : SETTLED_MS;
    const state = { what, since: now, wait, isWritten: false };
    this.#states.set(zone, state);
    return state;
  }
}

const isOrphaned = (change: ZoneChange): boolean => change.kind === 'remove' && change.isOrphan === true;
