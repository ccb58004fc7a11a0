/** Label selectors in a form that is the same for all that select the same by the same words, so that they can be counted and shared. */
import type { LabelSelector, Labels } from '../../../api/label-selector.ts';

/** What a selector requires of one key: at most one of these per key. */
type Requirement =
  | { readonly key: string; readonly kind: 'in'; readonly values: ReadonlySet<string> }
  | { readonly key: string; readonly kind: 'notIn'; readonly values: ReadonlySet<string>; readonly mustExist: boolean }
  | { readonly key: string; readonly kind: 'exists' }
  | { readonly key: string; readonly kind: 'absent' };

export interface CanonicalSelector {
  /** As kubectl has it: `app=web,tier in (a,b),!old`; empty: everything. Two selectors have the same only if they are the same. */
  readonly text: string;
  /** Sorted by key. */
  readonly requirements: readonly Requirement[];
  /** Whether nothing can meet it, as with `a` in (x) and in (y). */
  readonly isImpossible: boolean;
}

export const canonicalSelector = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): CanonicalSelector => {
  const keys = new Map<string, KeyTerms>();
  const termsOf = (key: string): KeyTerms => {
    const terms = keys.get(key) ?? { in: undefined, notIn: new Set<string>(), exists: false, absent: false };
    keys.set(key, terms);
    return terms;
  };
  for (const [key, value] of Object.entries(matchLabels)) restrict(termsOf(key), [value]);
  for (const { key, operator, values = [] } of matchExpressions) {
    const terms = termsOf(key);
    if (operator === 'In') restrict(terms, values);
    else if (operator === 'NotIn') for (const value of values) terms.notIn.add(value);
    else if (operator === 'Exists') terms.exists = true;
    else terms.absent = true;
  }
  const requirements = [...keys].sort(byKey).map(([key, terms]) => requirementOf(key, terms));
  const known = requirements.filter((requirement) => requirement !== undefined);
  const isImpossible = known.length < requirements.length;
  return isImpossible ? IMPOSSIBLE : { text: known.map(textOf).join(','), requirements: known, isImpossible };
};

export const isSelected = ({ requirements, isImpossible }: CanonicalSelector, labels: Labels): boolean => {
  if (isImpossible) return false;
  for (const requirement of requirements) if (!isMet(requirement, labels)) return false;
  return true;
};

/** A selector may name a label `constructor`, which every object inherits. */
const isMet = (requirement: Requirement, labels: Labels): boolean => {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.kind) {
    case 'in':
      return value !== undefined && requirement.values.has(value);
    case 'notIn':
      return value === undefined ? !requirement.mustExist : !requirement.values.has(value);
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
  }
};

/** All that a selector says of a key. */
interface KeyTerms {
  in: Set<string> | undefined;
  readonly notIn: Set<string>;
  exists: boolean;
  absent: boolean;
}

const restrict = (terms: KeyTerms, values: readonly string[]): void => {
  terms.in = new Set(values.filter((value) => terms.in?.has(value) ?? true));
};

/** Undefined: nothing meets it. */
const requirementOf = (key: string, terms: KeyTerms): Requirement | undefined => {
  if (terms.absent) return terms.exists || terms.in !== undefined ? undefined : { key, kind: 'absent' };
  if (terms.in !== undefined) {
    const values = new Set([...terms.in].filter((value) => !terms.notIn.has(value)).sort());
    return values.size === 0 ? undefined : { key, kind: 'in', values };
  }
  if (terms.notIn.size === 0) return { key, kind: 'exists' };
  return { key, kind: 'notIn', values: new Set([...terms.notIn].sort()), mustExist: terms.exists };
};

const textOf = (requirement: Requirement): string => {
  const key = quoted(requirement.key);
  switch (requirement.kind) {
    case 'in': {
      const [value = '', ...more] = requirement.values;
      return more.length === 0 ? `${key}=${quoted(value)}` : `${key} in (${listed(requirement.values)})`;
    }
    case 'notIn':
      return `${requirement.mustExist ? `${key},` : ''}${key} notin (${listed(requirement.values)})`;
    case 'exists':
      return key;
    case 'absent':
      return `!${key}`;
  }
};

const listed = (values: ReadonlySet<string>): string => [...values].map(quoted).join(',');

/** What is no label could contain the other signs, and be taken for another selector. */
const quoted = (text: string): string => (/^[A-Za-z0-9_./-]*$/.test(text) ? text : JSON.stringify(text));

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

const IMPOSSIBLE: CanonicalSelector = { text: '(nothing)', requirements: [], isImpossible: true };
