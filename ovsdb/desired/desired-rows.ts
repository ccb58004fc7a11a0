/**
 * What all owners together want of one database. An owner hands over everything it wants at once; what differs from
 * before is passed on to listeners. A call costs as much as the owner's fragment is large, whatever else is desired.
 */
import { MultiMap } from '../../base/multi-map.ts';
import { Listeners } from '../listeners.ts';
import type { Tables } from '../schema/model.ts';
import { elementId, isRowRef, onlyRowId, type TargetId, targetId } from './identity.ts';
import { BareOwners } from './store/bare-owners.ts';
import { type Claim, type Claims, claimList, winnerOf, withClaim } from './store/claims.ts';
import { type MemberAddress, MemberSets, memberAddress } from './store/member-sets.ts';
import { referencesIn, referredKeys } from './store/references.ts';
import { samePatch, sameRow } from './store/same.ts';
import { Withheld } from './store/withheld.ts';
import {
  type AnyDesiredRow,
  type AnyFragment,
  type AnyMember,
  type AnyPatch,
  byName,
  type DesiredElement,
  type DesiredFragment,
  type Member,
  type OwnerOrder,
} from './types.ts';
import { type Unit, unitId } from './unit.ts';

/** A unit that is desired otherwise than before, and the owner who wants it so. */
export interface DesiredChange {
  readonly unit: Unit;
  readonly owner: string;
  /** Of a row: no owner desired it before. */
  readonly isNew?: true;
}

/** What has a reference to a row: a member, or a row with the reference in its columns. */
export type Referrer = AnyDesiredRow | AnyMember;

/** What owners want of a database. Nothing is checked here: what cannot be is the owner's status with the reconciler. */
export class DesiredRows<DB = Tables> {
  /** Without those that are withheld: a fragment whose row loses puts no other row in its place. */
  readonly members: MemberSets;
  readonly #order: OwnerOrder;
  readonly #fragments = new Map<string, AnyFragment>();
  readonly #rows = new Map<string, Claims<AnyDesiredRow>>();
  readonly #patches = new Map<TargetId, Claims<AnyPatch>>();
  readonly #referrers = new MultiMap<Referrer>();
  /** Owner → the keys of its rows that are not written as it wants them, because another owner wins. */
  readonly #shadowed = new Map<string, Set<string>>();
  readonly #withheld = new Withheld();
  readonly #bare: BareOwners;
  /** Tables with rows that are not addressed by a key. A table stays, once it is there. */
  readonly #foreignTables = new Set<string>();
  readonly #changes = new Listeners<DesiredChange>();
  readonly #shadows = new Listeners<string>();
  readonly #releases = new Listeners<string>();

  /**
   * @param order which of several owners of one row wins
   * @param barePrefix of the owners that want members alone, see `replaceMembers`
   */
  constructor(order: OwnerOrder = byName, barePrefix = '\0bare:') {
    this.#order = order;
    this.#bare = new BareOwners(barePrefix);
    this.members = new MemberSets(order, this.#bare);
  }

  /** Replaces what `owner` desired before. Of several rows with one key in a fragment the last counts. */
  set(owner: string, fragment: DesiredFragment<DB>): void {
    this.#replace(owner, fragment as AnyFragment);
  }

  /** Repeating it does nothing. */
  delete(owner: string): void {
    if (this.#fragments.has(owner)) this.#replace(owner, {});
  }

  /**
   * For owners of which there are very many: each wants members alone, of rows of ours and with texts as values, and nothing is kept of it
   * beside these. So the caller says what it wanted before.
   * @param subject what the owner's name has behind the prefix
   */
  replaceMembers(subject: string, before: readonly Member<DB>[], after: readonly Member<DB>[]): void {
    const old = addressesOf(before as readonly AnyMember[]);
    const desired = addressesOf(after as readonly AnyMember[]);
    for (const [id, address] of old) if (!desired.has(id)) this.#claimBare(subject, address, false);
    for (const [id, address] of desired) if (!old.has(id)) this.#claimBare(subject, address, true);
    this.#bare.count(subject, desired.size - old.size);
  }

  onChange(listener: (change: DesiredChange) => void): () => void {
    return this.#changes.add(listener);
  }

  /** Called with a row's key when something refers to it no more. */
  onRelease(listener: (key: string) => void): () => void {
    return this.#releases.add(listener);
  }

  /** Called with an owner when one of its rows becomes shadowed, or is no longer. */
  onShadow(listener: (owner: string) => void): () => void {
    return this.#shadows.add(listener);
  }

  /** True when no owner desires anything. */
  get isEmpty(): boolean {
    return this.#fragments.size + this.#bare.size === 0;
  }

  *owners(): Iterable<string> {
    yield* this.#fragments.keys();
    yield* this.#bare.owners();
  }

  /** Whether the owner desires anything. */
  hasOwner(owner: string): boolean {
    return this.#fragments.has(owner) || this.#bare.has(owner);
  }

  /** Of owners other than bare ones. */
  fragment(owner: string): AnyFragment | undefined {
    return this.#fragments.get(owner);
  }

  /** The row with this key as the winner among its owners wants it. */
  row(key: string): AnyDesiredRow | undefined {
    return winnerOf(this.#rows.get(key))?.value;
  }

  *rows(): Iterable<AnyDesiredRow> {
    for (const claims of this.#rows.values()) {
      const winner = winnerOf(claims);
      if (winner !== undefined) yield winner.value;
    }
  }

  /** Who wants the row as desired; the winner first. */
  rowOwners(key: string): readonly string[] {
    const claims = claimList(this.#rows.get(key));
    const [winner] = claims;
    if (winner === undefined) return [];
    return claims.filter(({ value }) => sameRow(value, winner.value)).map(({ owner }) => owner);
  }

  /** The keys of the owner's rows that another owner wants otherwise, and wins. */
  shadowedKeys(owner: string): ReadonlySet<string> {
    return this.#shadowed.get(owner) ?? NOTHING;
  }

  /** What refers to the row with this key. */
  referrers(key: string): Iterable<Referrer> {
    return this.#referrers.get(key);
  }

  /** True when a member or a patch is for a row of this table that its values identify. */
  hasForeignTargets(table: string): boolean {
    return this.#foreignTables.has(table);
  }

  hasPatches(target: TargetId): boolean {
    return this.#patches.has(target);
  }

  /** In the order in which they win: of two patches of one value the first counts. */
  patches(target: TargetId): readonly AnyPatch[] {
    return claimList(this.#patches.get(target)).map(({ value }) => value);
  }

  /** The whole desired state, as units. */
  *units(): Iterable<Unit> {
    for (const { table, key } of this.rows()) yield { kind: 'row', table, key };
    for (const member of this.members.all()) yield { kind: 'member', ...memberAddress(member) };
    yield* this.patchUnits();
  }

  *patchUnits(): Iterable<Unit> {
    for (const [target, claims] of this.#patches) {
      yield { kind: 'patch', table: winnerOf(claims)?.value.table ?? '', target };
    }
  }

  /** Who wants a unit. */
  ownersOf(unit: Unit): readonly string[] {
    switch (unit.kind) {
      case 'row':
        return this.row(unit.key)?.table === unit.table ? this.rowOwners(unit.key) : [];
      case 'member':
        return this.members.ownersOf(unit.target, unit.column, unit.element);
      case 'patch':
        return claimList(this.#patches.get(unit.target)).map(({ owner }) => owner);
    }
  }

  #replace(owner: string, fragment: AnyFragment): void {
    const before = this.#fragments.get(owner) ?? {};
    const rows = this.#replaceRows(owner, before.rows ?? [], fragment.rows ?? []);
    const members = this.#replaceMembers(owner, before.members ?? [], fragment.members ?? []);
    const patches = this.#replacePatches(owner, before.patches ?? [], fragment.patches ?? []);
    if (rows.length + members.length + patches.length === 0) this.#fragments.delete(owner);
    else {
      this.#fragments.set(owner, {
        ...(rows.length > 0 && { rows }),
        ...(members.length > 0 && { members }),
        ...(patches.length > 0 && { patches }),
      });
    }
  }

  /** What is to be remembered: the old object of a row that is as it was, so that the new one is freed. */
  #replaceRows(
    owner: string,
    before: readonly AnyDesiredRow[],
    after: readonly AnyDesiredRow[],
  ): readonly AnyDesiredRow[] {
    const old = new Map(before.map((row) => [row.key, row]));
    const desired = new Map(after.map((row) => [row.key, row]));
    for (const row of before) if (!desired.has(row.key)) this.#claimRow(owner, row.key, row, undefined);
    return [...desired.values()].map((row) => {
      const known = old.get(row.key);
      if (known !== undefined && sameRow(known, row)) return known;
      this.#claimRow(owner, row.key, known, row);
      return row;
    });
  }

  #claimRow(owner: string, key: string, before: AnyDesiredRow | undefined, after: AnyDesiredRow | undefined): void {
    if (before !== undefined) for (const target of referredKeys(before)) this.#referrers.delete(target, before);
    if (after !== undefined) for (const target of referredKeys(after)) this.#referrers.add(target, after);
    const oldClaims = this.#rows.get(key);
    const claims = withClaim(oldClaims, owner, after, this.#order);
    if (claims === undefined) this.#rows.delete(key);
    else this.#rows.set(key, claims);
    this.#updateShadows(key, claimList(oldClaims), claimList(claims));
    this.#emitRow(owner, key, winnerOf(oldClaims)?.value, winnerOf(claims));
    if (before !== undefined) for (const target of referredKeys(before)) this.#releases.emit(target);
  }

  #emitRow(
    owner: string,
    key: string,
    before: AnyDesiredRow | undefined,
    after: Claim<AnyDesiredRow> | undefined,
  ): void {
    if (before !== undefined && before.table !== after?.value.table) {
      this.#emit({ kind: 'row', table: before.table, key }, owner);
    }
    if (before !== undefined) this.#emitReleased(owner, before, after?.value);
    if (after === undefined) return;
    const unit: Unit = { kind: 'row', table: after.value.table, key };
    const isOther = before === undefined || !sameRow(before, after.value);
    // An owner that joins others in wanting a row has to hear when it is written, too.
    const isNew = before?.table !== after.value.table;
    if (isOther || this.rowOwners(key).includes(owner)) this.#emit(unit, owner, isNew);
    if (isOther && after.owner !== owner) this.#emit(unit, after.owner);
  }

  /**
   * References that a set was given and is given no more. They are units of their own because the row's may come to
   * nothing: the set may not be given at all any more, the row may have to wait for another reference, or it is withdrawn
   * and desired again, by another owner and with fewer columns, before anything is written.
   */
  #emitReleased(owner: string, { table, key, columns }: AnyDesiredRow, after: AnyDesiredRow | undefined): void {
    for (const column in columns) {
      const value = columns[column];
      if (!Array.isArray(value)) continue;
      const kept = new Set(referencesIn(after?.columns[column]).map(elementId));
      for (const element of referencesIn(value).map(elementId)) {
        if (!kept.has(element)) this.#emit({ kind: 'member', table, target: key, column, element }, owner);
      }
    }
  }

  #updateShadows(
    key: string,
    before: readonly { readonly owner: string }[],
    after: readonly { readonly owner: string; readonly value: AnyDesiredRow }[],
  ): void {
    if (before.length < 2 && after.length < 2) return;
    const [winner] = after;
    const shadowed = new Set(
      after.filter(({ value }) => winner !== undefined && !sameRow(value, winner.value)).map(({ owner }) => owner),
    );
    for (const owner of new Set([...before, ...after].map((claim) => claim.owner))) {
      this.#setShadowed(owner, key, shadowed.has(owner));
    }
  }

  #setShadowed(owner: string, key: string, isShadowed: boolean): void {
    const keys = this.#shadowed.get(owner) ?? new Set();
    if (keys.has(key) === isShadowed) return;
    if (isShadowed) keys.add(key);
    else keys.delete(key);
    if (keys.size === 0) this.#shadowed.delete(owner);
    else this.#shadowed.set(owner, keys);
    for (const member of this.#fragments.get(owner)?.members ?? []) this.#settleMember(owner, member);
    this.#shadows.emit(owner);
  }

  /** A member of a row that another owner has its way with would be of the other's row. */
  #isBarred(owner: string, { row, value }: AnyMember): boolean {
    const keys = this.#shadowed.get(owner);
    if (keys === undefined) return false;
    return (isRowRef(value) && keys.has(value.ref)) || (typeof row === 'string' && keys.has(row));
  }

  #settleMember(owner: string, member: AnyMember): void {
    const isBarred = this.#isBarred(owner, member);
    if (this.#withheld.set(owner, memberId(member), isBarred)) this.#claimMember(owner, member, !isBarred);
  }

  #replaceMembers(owner: string, before: readonly AnyMember[], after: readonly AnyMember[]): readonly AnyMember[] {
    const old = new Map(before.map((member) => [memberId(member), member]));
    const desired = new Map(after.map((member) => [memberId(member), member]));
    for (const [id, member] of old) {
      if (desired.has(id)) continue;
      if (!this.#withheld.set(owner, id, false)) this.#claimMember(owner, member, false);
    }
    return [...desired].map(([id, member]) => {
      const known = old.get(id);
      if (known !== undefined) return known;
      if (this.#isBarred(owner, member)) this.#withheld.set(owner, id, true);
      else this.#claimMember(owner, member, true);
      return member;
    });
  }

  #claimMember(owner: string, member: AnyMember, isDesired: boolean): void {
    const address = memberAddress(member);
    this.members.set(owner, address, isDesired ? member : undefined);
    if (typeof member.row !== 'string') this.#foreignTables.add(member.table);
    if (isRowRef(member.value)) {
      if (isDesired) this.#referrers.add(member.value.ref, member);
      else this.#referrers.delete(member.value.ref, member);
    }
    const isLeftToOthers =
      !isDesired && this.members.get(address.target, address.column, address.element) !== undefined;
    if (!isLeftToOthers) this.#emit({ kind: 'member', ...address }, owner);
  }

  #claimBare(subject: string, address: MemberAddress, isDesired: boolean): void {
    this.members.setBare(subject, address, isDesired);
    // As at a start, of which the units of all pods are most.
    if (this.#changes.isEmpty) return;
    const isLeftToOthers = !isDesired && this.members.hasElement(address.target, address.column, address.element);
    if (!isLeftToOthers) this.#emit({ kind: 'member', ...address }, this.#bare.ownerOf(subject));
  }

  #replacePatches(owner: string, before: readonly AnyPatch[], after: readonly AnyPatch[]): readonly AnyPatch[] {
    const old = new Map(before.map((patch) => [patchTarget(patch), patch]));
    const desired = new Map<TargetId, AnyPatch>();
    for (const patch of after) desired.set(patchTarget(patch), mergedPatch(desired.get(patchTarget(patch)), patch));
    for (const [target, patch] of old)
      if (!desired.has(target)) this.#claimPatch(owner, target, patch.table, undefined);
    return [...desired].map(([target, patch]) => {
      const known = old.get(target);
      if (known !== undefined && samePatch(known, patch)) return known;
      this.#claimPatch(owner, target, patch.table, patch);
      return patch;
    });
  }

  #claimPatch(owner: string, target: TargetId, table: string, patch: AnyPatch | undefined): void {
    const claims = withClaim(this.#patches.get(target), owner, patch, this.#order);
    this.#foreignTables.add(table);
    if (claims === undefined) this.#patches.delete(target);
    else this.#patches.set(target, claims);
    this.#emit({ kind: 'patch', table, target }, owner);
  }

  #emit(unit: Unit, owner: string, isNew = false): void {
    this.#changes.emit({ unit, owner, ...(isNew && { isNew }) });
  }
}

export const patchTarget = ({ table, at }: AnyPatch): TargetId =>
  at === undefined ? onlyRowId(table) : targetId({ table, at });

/** A fragment may have several patches of one row. */
const mergedPatch = (first: AnyPatch | undefined, second: AnyPatch): AnyPatch => {
  if (first === undefined) return second;
  const entries: Record<string, Readonly<Record<string, DesiredElement | null>>> = {};
  for (const name of new Set([...Object.keys(first.entries ?? {}), ...Object.keys(second.entries ?? {})])) {
    entries[name] = { ...first.entries?.[name], ...second.entries?.[name] };
  }
  return { ...first, columns: { ...first.columns, ...second.columns }, entries };
};

type Addresses = ReadonlyMap<string, MemberAddress>;

const addressesOf = (members: readonly AnyMember[]): Addresses =>
  new Map(
    members.map(memberAddress).map((address) => [`${address.target}\n${address.column}\n${address.element}`, address]),
  );

const memberId = (member: AnyMember): string => unitId({ kind: 'member', ...memberAddress(member) });

const NOTHING: ReadonlySet<string> = new Set();
