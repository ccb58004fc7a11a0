/** The members of set columns and who contributes them. Adding one costs the same however many there are. */
import { type ElementId, elementId, type TargetId, targetId } from '../identity.ts';
import type { AnyMember, OwnerOrder } from '../types.ts';
import { type Claims, claimList, winnerOf, withClaim } from './claims.ts';

type Elements = Map<ElementId, Claims<AnyMember>>;

export class MemberSets {
  readonly #order: OwnerOrder;
  readonly #targets = new Map<TargetId, Map<string, Elements>>();

  constructor(order: OwnerOrder) {
    this.#order = order;
  }

  /** @param member undefined: `owner` no longer contributes the element */
  set(owner: string, at: MemberAddress, member: AnyMember | undefined): void {
    const elements = this.#elements(at, member !== undefined);
    if (elements === undefined) return;
    const claims = withClaim(elements.get(at.element), owner, member, this.#order);
    if (claims !== undefined) elements.set(at.element, claims);
    else if (elements.delete(at.element) && elements.size === 0) this.#drop(at);
  }

  get(target: TargetId, column: string, element: ElementId): AnyMember | undefined {
    return winnerOf(this.#targets.get(target)?.get(column)?.get(element))?.value;
  }

  ownersOf(target: TargetId, column: string, element: ElementId): readonly string[] {
    return claimList(this.#targets.get(target)?.get(column)?.get(element)).map(({ owner }) => owner);
  }

  /** The columns of a row that have members. */
  columns(target: TargetId): Iterable<string> {
    return this.#targets.get(target)?.keys() ?? [];
  }

  hasColumn(target: TargetId, column: string): boolean {
    return this.#targets.get(target)?.has(column) ?? false;
  }

  *of(target: TargetId, column: string): Iterable<AnyMember> {
    for (const claims of this.#targets.get(target)?.get(column)?.values() ?? []) {
      const winner = winnerOf(claims);
      if (winner !== undefined) yield winner.value;
    }
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

  #elements({ target, column }: MemberAddress, create: boolean): Elements | undefined {
    let columns = this.#targets.get(target);
    if (columns === undefined) {
      if (!create) return undefined;
      columns = new Map();
      this.#targets.set(target, columns);
    }
    const known = columns.get(column);
    if (known !== undefined || !create) return known;
    const elements: Elements = new Map();
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
