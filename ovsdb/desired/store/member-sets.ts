/** The members of set columns and who contributes them. Adding one costs the same however many there are. */
import { DenseMap } from '../../../base/dense-map.ts';
import { type ElementId, elementId, type TargetId, targetId } from '../identity.ts';
import type { AnyMember, OwnerOrder } from '../types.ts';
import type { BareOwners } from './bare-owners.ts';
import { type Claim, type Claims, claimList, winnerOf, withClaim } from './claims.ts';

/** Who wants an element. A text is the subject of a bare owner that is alone in wanting it: the rest of its member is where it is held. */
type Held = Claims<AnyMember> | string;

interface Elements {
  /** Of all members that are held as a text. */
  readonly table: string;
  readonly held: DenseMap<Held>;
}

export class MemberSets {
  readonly #order: OwnerOrder;
  readonly #bare: BareOwners;
  readonly #targets = new Map<TargetId, Map<string, Elements>>();

  constructor(order: OwnerOrder, bare: BareOwners) {
    this.#order = order;
    this.#bare = bare;
  }

  /** @param member undefined: `owner` no longer contributes the element */
  set(owner: string, at: MemberAddress, member: AnyMember | undefined): void {
    const elements = this.#elements(at, member !== undefined);
    if (elements === undefined) return;
    const before = this.#claims(at, elements.held.get(at.element));
    const claims = withClaim(before, owner, member, this.#order);
    if (claims !== undefined) elements.held.set(at.element, claims);
    else if (elements.held.delete(at.element) && elements.held.size === 0) this.#drop(at);
  }

  /** The same for a bare owner. @param subject of the owner, kept as it is; its member's row is ours, and its value a text */
  setBare(subject: string, at: MemberAddress, isDesired: boolean): void {
    const elements = this.#elements(at, isDesired);
    if (elements === undefined) return;
    const isFree = !elements.held.has(at.element) && elements.table === at.table;
    if (isDesired && isFree) elements.held.set(at.element, subject);
    else this.set(this.#bare.ownerOf(subject), at, isDesired ? plainMember(at, at.table) : undefined);
  }

  get(target: TargetId, column: string, element: ElementId): AnyMember | undefined {
    const elements = this.#targets.get(target)?.get(column);
    const held = elements?.held.get(element);
    if (elements === undefined || typeof held !== 'string')
      return winnerOf(held as Claims<AnyMember> | undefined)?.value;
    return plainMember({ target, column, element }, elements.table);
  }

  ownersOf(target: TargetId, column: string, element: ElementId): readonly string[] {
    const held = this.#targets.get(target)?.get(column)?.held.get(element);
    if (typeof held === 'string') return [this.#bare.ownerOf(held)];
    return claimList(held).map(({ owner }) => owner);
  }

  /** The columns of a row that have members. */
  columns(target: TargetId): Iterable<string> {
    return this.#targets.get(target)?.keys() ?? [];
  }

  hasColumn(target: TargetId, column: string): boolean {
    return this.#targets.get(target)?.has(column) ?? false;
  }

  hasElement(target: TargetId, column: string, element: ElementId): boolean {
    return this.#targets.get(target)?.get(column)?.held.has(element) ?? false;
  }

  *of(target: TargetId, column: string): Iterable<AnyMember> {
    const elements = this.#targets.get(target)?.get(column);
    for (const [element, held] of elements?.held ?? []) {
      if (typeof held === 'string') yield plainMember({ target, column, element }, elements?.table ?? '');
      else {
        const winner = winnerOf(held);
        if (winner !== undefined) yield winner.value;
      }
    }
  }

  /** Those of bare owners. */
  *bareOf(target: TargetId, column: string): Iterable<AnyMember> {
    const elements = this.#targets.get(target)?.get(column);
    for (const [element, held] of elements?.held ?? []) {
      if (typeof held === 'string') yield plainMember({ target, column, element }, elements?.table ?? '');
      else {
        const claim = claimList(held).find(({ owner }) => this.#bare.isBare(owner));
        if (claim !== undefined) yield claim.value;
      }
    }
  }

  /** The text that is held for an element, of those that are equal to it. */
  textOf(target: TargetId, column: string, element: ElementId): string | undefined {
    return this.#targets.get(target)?.get(column)?.held.keyOf(element);
  }

  /** The sets that have members. */
  *places(): Iterable<Omit<MemberAddress, 'element'>> {
    for (const [target, columns] of this.#targets)
      for (const [column, { table }] of columns) yield { table, target, column };
  }

  hasTarget(target: TargetId): boolean {
    return this.#targets.has(target);
  }

  *all(): Iterable<AnyMember> {
    for (const { members } of this.sets()) yield* members;
  }

  /** All of them, by the sets that they belong into. */
  *sets(): Iterable<{ readonly target: TargetId; readonly column: string; readonly members: Iterable<AnyMember> }> {
    for (const [target, columns] of this.#targets) {
      for (const column of columns.keys()) yield { target, column, members: this.of(target, column) };
    }
  }

  #claims(at: Omit<MemberAddress, 'table'>, held: Held | undefined): Claims<AnyMember> | undefined {
    if (typeof held !== 'string') return held;
    const table = this.#targets.get(at.target)?.get(at.column)?.table ?? '';
    return { owner: this.#bare.ownerOf(held), value: plainMember(at, table) } satisfies Claim<AnyMember>;
  }

  #elements({ table, target, column }: MemberAddress, create: boolean): Elements | undefined {
    let columns = this.#targets.get(target);
    if (columns === undefined) {
      if (!create) return undefined;
      columns = new Map();
      this.#targets.set(target, columns);
    }
    const known = columns.get(column);
    if (known !== undefined || !create) return known;
    const elements: Elements = { table, held: new DenseMap() };
    columns.set(column, elements);
    return elements;
  }

  #drop({ target, column }: MemberAddress): void {
    const columns = this.#targets.get(target);
    columns?.delete(column);
    if (columns?.size === 0) this.#targets.delete(target);
  }
}

export interface MemberAddress {
  readonly table: string;
  readonly target: TargetId;
  readonly column: string;
  readonly element: ElementId;
}

export const memberAddress = ({ table, row, column, value }: AnyMember): MemberAddress => ({
  table,
  target: targetId(row),
  column,
  element: elementId(value),
});

const plainMember = ({ target, column, element }: Omit<MemberAddress, 'table'>, table: string): AnyMember => ({
  ...{ table, row: target, column, value: element },
});
