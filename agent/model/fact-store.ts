/** Holds the facts and says which changed. Who reads a fact through `reader` is told when it changes. */
import { isDeepStrictEqual } from 'node:util';
import type { FactKind, Facts, GatewayFact, PodFact } from './facts.ts';
import { LockedAddresses } from './locked-addresses.ts';

/** A fact's place. It exists as long as the fact has a value or a reader. */
export interface FactCell<Kind extends FactKind = FactKind> {
  readonly kind: Kind;
  readonly id: string;
  value: Facts[Kind] | undefined;
  readonly readers: Set<FactReader>;
  /** The list that it was put into last, by a view: it is in no list twice. */
  listed: readonly FactCell[] | undefined;
}

export interface FactReader {
  /** A fact that was read has changed. Called once per change; reading subscribes anew. */
  stale(): void;
}

/** A fact came or went, which makes or ends fragments about it. */
export type FactListener = (kind: FactKind, id: string, present: boolean) => void;

export class FactStore {
  readonly #cells = new Map<FactKind, Map<string, FactCell>>();
  readonly #listeners = new Set<FactListener>();
  readonly #locked = new LockedAddresses();

  get<Kind extends FactKind>(kind: Kind, id: string): Facts[Kind] | undefined {
    return this.#find(kind, id)?.value;
  }

  /** Undefined takes the fact away. An equal value is no change. */
  set<Kind extends FactKind>(kind: Kind, id: string, value: Facts[Kind] | undefined): void {
    const before = this.get(kind, id);
    if (isDeepStrictEqual(before, value)) return;
    const cell = this.cell(kind, id);
    cell.value = value;
    if (kind === 'gateway') this.set('gatewayMode', id, (value as GatewayFact | undefined)?.mode);
    if (kind === 'pod') this.#lock(before as PodFact | undefined, value as PodFact | undefined);
    for (const reader of [...cell.readers]) reader.stale();
    this.#dropIfUnused(cell);
    if ((before === undefined) === (value === undefined)) return;
    for (const listener of this.#listeners) listener(kind, id, value !== undefined);
  }

  /** The ids of all facts of a kind, in the order in which they came. */
  *ids(kind: FactKind): Generator<string> {
    for (const cell of this.#cells.get(kind)?.values() ?? []) if (cell.value !== undefined) yield cell.id;
  }

  listen(listener: FactListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For a reader that is going to subscribe. */
  cell<Kind extends FactKind>(kind: Kind, id: string): FactCell<Kind> {
    const found = this.#find(kind, id);
    if (found !== undefined) return found;
    const cell: FactCell<Kind> = { kind, id, value: undefined, readers: new Set(), listed: undefined };
    const cells = this.#cells.get(kind) ?? new Map<string, FactCell>();
    this.#cells.set(kind, cells.set(id, cell as unknown as FactCell));
    return cell;
  }

  unsubscribe(cell: FactCell, reader: FactReader): void {
    cell.readers.delete(reader);
    this.#dropIfUnused(cell);
  }

  #lock(before: PodFact | undefined, after: PodFact | undefined): void {
    for (const [ip, isLocked] of this.#locked.change(before, after)) {
      this.set('lockedAddress', ip, isLocked ? true : undefined);
    }
  }

  #find<Kind extends FactKind>(kind: Kind, id: string): FactCell<Kind> | undefined {
    return this.#cells.get(kind)?.get(id) as FactCell<Kind> | undefined;
  }

  #dropIfUnused(cell: Pick<FactCell, 'kind' | 'id' | 'value' | 'readers'>): void {
    // A reader that reads again at once has another cell of this id by now.
    if (cell.value === undefined && cell.readers.size === 0 && this.#cells.get(cell.kind)?.get(cell.id) === cell)
      this.#cells.get(cell.kind)?.delete(cell.id);
  }
}
