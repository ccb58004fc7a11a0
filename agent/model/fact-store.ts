/** Holds the facts and emits which changed. A reader of a fact through `reader` is notified when it changes. */
import { isDeepStrictEqual } from 'node:util';
import { DenseMap } from '../../base/dense-map.ts';
import type { BareKind, FactKind, Facts, GatewayFact, PodFact, ReadKind } from './facts.ts';
import { LockedAddresses } from './locked-addresses.ts';

/** A fact's place. It exists as long as the fact has a value or a reader. */
export interface FactCell<Kind extends ReadKind = ReadKind> {
  readonly kind: Kind;
  readonly id: string;
  value: Facts[Kind] | undefined;
  /** One alone is the common case and needs no set: there is a cell for every address that a Service has an endpoint at. */
  readers: FactReader | Set<FactReader> | undefined;
  /** The list that it was put into last, by a view: it is in no list twice. */
  listed: readonly FactCell[] | undefined;
}

export interface FactReader {
  /** A fact that was read has changed. Called once per change; reading subscribes again. */
  stale(): void;
}

/** What keeps facts of its own, and looks at others'. */
export type FactWriter = Pick<FactStore, 'get' | 'set'>;

/** A fact came or went, which makes or ends fragments about it. */
export type FactListener = (kind: ReadKind, id: string, present: boolean) => void;

/** A fact that no fragment reads came, went, or is another. */
export type BareListener = (change: BareChange) => void;
export interface BareChange<Kind extends BareKind = BareKind> {
  readonly kind: Kind;
  readonly id: string;
  readonly before: Facts[Kind] | undefined;
}

export class FactStore {
  readonly #cells = new Map<FactKind, Map<string, FactCell>>();
  readonly #listeners = new Set<FactListener>();
  /** Without a cell each: there are very many. */
  readonly #bare: { readonly [Kind in BareKind]: DenseMap<Facts[Kind]> } = { policyPeer: new DenseMap() };
  readonly #bareListeners = new Set<BareListener>();
  readonly #locked = new LockedAddresses();

  get<Kind extends FactKind>(kind: Kind, id: string): Facts[Kind] | undefined {
    const value = isBare(kind) ? this.#bare[kind].get(id) : this.#find(kind as ReadKind, id)?.value;
    return value as Facts[Kind] | undefined;
  }

  /** Undefined takes the fact away. An equal value is no change. */
  set<Kind extends FactKind>(kind: Kind, id: string, value: Facts[Kind] | undefined): void {
    if (isBare(kind)) this.#setBare(kind, id, value as Facts[BareKind] | undefined);
    else this.#setRead(kind as ReadKind, id, value as Facts[ReadKind] | undefined);
  }

  #setBare(kind: BareKind, id: string, value: Facts[BareKind] | undefined): void {
    const facts = this.#bare[kind];
    const before = facts.get(id);
    if (before === value || isDeepStrictEqual(before, value)) return;
    if (value === undefined) facts.delete(id);
    else facts.set(id, value);
    for (const listener of this.#bareListeners) listener({ kind, id, before });
  }

  #setRead<Kind extends ReadKind>(kind: Kind, id: string, value: Facts[Kind] | undefined): void {
    const known = this.#find(kind, id);
    const before = known?.value;
    if (before === value || isDeepStrictEqual(before, value)) return;
    const cell = known ?? this.#add(kind, id);
    cell.value = value;
    if (kind === 'gateway') this.set('gatewayMode', id, (value as GatewayFact | undefined)?.mode);
    if (kind === 'pod') this.#lock(before as PodFact | undefined, value as PodFact | undefined);
    for (const reader of readersOf(cell)) reader.stale();
    this.#dropIfUnused(cell);
    if ((before === undefined) === (value === undefined)) return;
    for (const listener of this.#listeners) listener(kind, id, value !== undefined);
  }

  /** The ids of all facts of a kind, in the order in which they came. */
  *ids(kind: FactKind): Generator<string> {
    if (isBare(kind)) yield* this.#bare[kind].keys();
    for (const cell of this.#cells.get(kind)?.values() ?? []) if (cell.value !== undefined) yield cell.id;
  }

  listen(listener: FactListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  listenBare(listener: BareListener): () => void {
    this.#bareListeners.add(listener);
    return () => this.#bareListeners.delete(listener);
  }

  /** For a reader that is going to subscribe. */
  cell<Kind extends ReadKind>(kind: Kind, id: string): FactCell<Kind> {
    return this.#find(kind, id) ?? this.#add(kind, id);
  }

  /** Repeating it does nothing. */
  subscribe(cell: FactCell, reader: FactReader): void {
    const { readers } = cell;
    if (readers === undefined) cell.readers = reader;
    else if (readers instanceof Set) readers.add(reader);
    else if (readers !== reader) cell.readers = new Set([readers, reader]);
  }

  unsubscribe(cell: FactCell, reader: FactReader): void {
    const { readers } = cell;
    if (readers === reader) cell.readers = undefined;
    else if (readers instanceof Set && readers.delete(reader) && readers.size === 0) cell.readers = undefined;
    this.#dropIfUnused(cell);
  }

  #add<Kind extends ReadKind>(kind: Kind, id: string): FactCell<Kind> {
    const cell: FactCell<Kind> = { kind, id, value: undefined, readers: undefined, listed: undefined };
    const cells = this.#cells.get(kind) ?? new Map<string, FactCell>();
    this.#cells.set(kind, cells.set(id, cell as unknown as FactCell));
    return cell;
  }

  #lock(before: PodFact | undefined, after: PodFact | undefined): void {
    for (const [ip, isLocked] of this.#locked.change(before, after)) {
      this.set('lockedAddress', ip, isLocked ? true : undefined);
    }
  }

  #find<Kind extends ReadKind>(kind: Kind, id: string): FactCell<Kind> | undefined {
    return this.#cells.get(kind)?.get(id) as FactCell<Kind> | undefined;
  }

  #dropIfUnused(cell: Pick<FactCell, 'kind' | 'id' | 'value' | 'readers'>): void {
    // A reader that reads again at once has another cell of this id by now.
    if (cell.value === undefined && cell.readers === undefined && this.#cells.get(cell.kind)?.get(cell.id) === cell)
      this.#cells.get(cell.kind)?.delete(cell.id);
  }
}

const isBare = (kind: FactKind): kind is BareKind => kind === 'policyPeer';

/** They may read again, and so change the set, while they are told. */
const readersOf = ({ readers }: Pick<FactCell, 'readers'>): readonly FactReader[] => {
  if (readers === undefined) return [];
  return readers instanceof Set ? [...readers] : [readers];
};
