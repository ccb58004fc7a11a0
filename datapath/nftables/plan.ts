/**
 * The difference as one transaction. Pure. A chain's rules are replaced when the chain differs, all of them at once, and
 * no other chain's; elements come and go one by one.
 */
import { compareKey, elementsBySet, type Finding, staleObjects, TABLE_KEY } from './compare.ts';
import { problemOf, typesOf } from './desired-form.ts';
import { canBeNamed } from './element-form.ts';
import { inOrder, type Operation } from './operations.ts';
import type { RuleForms } from './rule-forms.ts';
import { emptyTable, type TableState } from './table-state.ts';
import { type NftItem, nftItemKey } from './types.ts';

export interface PlanInput {
  readonly desired: ReadonlyMap<string, NftItem>;
  /** Undefined: there is no table. */
  readonly actual: TableState | undefined;
  readonly keys: ReadonlySet<string> | 'all';
  readonly prune: boolean;
  readonly forms: RuleForms;
  /** Keys to leave alone: they were refused. */
  readonly skip?: ReadonlySet<string>;
  /** Those of them that are chains of which only rules were refused. */
  readonly bare?: ReadonlySet<string>;
}

type PlanOfTable = PlanInput & { readonly actual: TableState };

export const findingsOf = ({ desired, actual, keys, prune, forms, skip, bare }: PlanOfTable): Map<string, Finding> => {
  const findings = new Map<string, Finding>();
  const add = (found: Finding | undefined): void => {
    const finding = found !== undefined && skip?.has(found.key) ? bareChain(found, bare) : found;
    if (finding === undefined || !isWritable(desired.get(finding.key))) return;
    if (prune || ('desired' in finding && finding.desired !== undefined)) findings.set(finding.key, finding);
  };
  if (keys !== 'all') for (const key of keys) add(compareKey(key, desired.get(key), actual, forms));
  else {
    for (const [key, item] of desired) add(compareKey(key, item, actual, forms));
    for (const finding of staleObjects(desired, actual)) add(finding);
  }
  return findings;
};

/**
 * A chain to jump to whose rules are refused is made without them, or the rules that jump to it would be refused, too, and
 * with them the chains that they are in.
 */
const bareChain = (finding: Finding, bare: ReadonlySet<string> | undefined): Finding | undefined => {
  if (finding.kind !== 'chain' || finding.how !== 'missing' || !bare?.has(finding.key)) return undefined;
  const { desired } = finding;
  return desired === undefined || desired.hook !== undefined
    ? undefined
    : { ...finding, desired: { ...desired, rules: [] } };
};

/** Nothing that is not one command gets into a script. */
const isWritable = (item: NftItem | undefined): boolean => item === undefined || problemOf(item) === undefined;

export const planOf = (input: PlanInput): Operation[] => {
  const { actual, desired, keys, prune } = input;
  if (actual === undefined) return desired.size === 0 ? [] : planOfNewTable(input, 'add-table');
  if (keys === 'all' && prune && desired.size === 0) return [{ op: 'delete-table', key: TABLE_KEY }];
  // `dormant` cannot be taken away together with other changes, a comment not at all.
  if (prune && actual.header.length > 0) return planOfNewTable(input, 'delete-table', 'add-table');
  return planOfTable({ ...input, actual });
};

const planOfNewTable = (input: PlanInput, ...steps: ('add-table' | 'delete-table')[]): Operation[] => [
  ...steps.map((op): Operation => ({ op, key: TABLE_KEY })),
  ...planOfTable({ ...input, actual: emptyTable(), keys: 'all' }),
];

const planOfTable = (input: PlanOfTable): Operation[] => {
  const findings = findingsOf(input);
  if (findings.size === 0) return [];
  addDependents(findings, input);
  const flushed = setsToFlush(findings, input.actual);
  const operations = [...findings.values()].flatMap((finding) => operationsOf(finding, flushed));
  return inOrder([...operations, ...refillOf(flushed, findings, input)]);
};

/** What has to be recreated because something that it uses is: rules, elements of sets, elements that jump. */
const addDependents = (findings: Map<string, Finding>, { desired, actual, skip }: PlanOfTable): void => {
  const remade = remadeOf(findings);
  if (remade.sets.size + remade.chains.size === 0) return;
  for (const finding of findings.values()) {
    if (finding.kind === 'element' && remade.sets.has(finding.set)) findings.delete(finding.key);
  }
  for (const [key, item] of desired) {
    if (skip?.has(key) || findings.has(key) || !isWritable(item)) continue;
    const finding = dependentOf(key, item, actual, remade);
    if (finding !== undefined) findings.set(key, finding);
  }
};

interface Remade {
  readonly sets: ReadonlySet<string>;
  readonly chains: ReadonlySet<string>;
}

const remadeOf = (findings: ReadonlyMap<string, Finding>): Remade => {
  const remade = [...findings.values()].filter(({ how }) => how === 'remade');
  const names = (kind: 'set' | 'chain'): ReadonlySet<string> =>
    new Set(remade.flatMap((one) => (one.kind === kind ? [one.desired?.name ?? ''] : [])));
  return { sets: names('set'), chains: names('chain') };
};

const dependentOf = (key: string, item: NftItem, actual: TableState, remade: Remade): Finding | undefined => {
  if (item.kind === 'chain') {
    const before = actual.chains.get(item.chain.name)?.rules ?? [];
    const isHit = [...item.chain.rules, ...before].some((rule) => uses(rule, remade));
    return isHit ? { kind: 'chain', key, desired: item.chain, how: 'rules' } : undefined;
  }
  if (item.kind === 'set') return undefined;
  const { element } = item;
  const isGone = remade.sets.has(element.set);
  if (!isGone && !uses(element.value ?? '', remade)) return undefined;
  const how = isGone ? 'missing' : 'changed';
  return { kind: 'element', key, desired: element, how, set: element.set, actual: element.key };
};

const uses = (text: string, { sets, chains }: Remade): boolean =>
  [...text.matchAll(/@([\w.-]+)/g)].some(([, name = '']) => sets.has(name)) ||
  [...text.matchAll(/(?:jump|goto) ([\w.-]+)/g)].some(([, name = '']) => chains.has(name));

/** Sets of which an element has to go that cannot be named, and that do not go themselves. */
const setsToFlush = (findings: ReadonlyMap<string, Finding>, actual: TableState): ReadonlySet<string> => {
  const sets = new Set<string>();
  for (const finding of findings.values()) {
    if (finding.kind !== 'element' || finding.how === 'missing') continue;
    const types = typesOf(actual.sets.get(finding.set)?.header ?? []);
    if (!canBeNamed(types.key, finding.actual)) sets.add(finding.set);
  }
  return sets;
};

/** All other elements of a set that is flushed. */
const refillOf = (
  flushed: ReadonlySet<string>,
  findings: ReadonlyMap<string, Finding>,
  { desired, actual, skip }: PlanOfTable,
): Operation[] => {
  if (flushed.size === 0) return [];
  const bySet = elementsBySet(desired);
  return [...flushed].flatMap((set) => [
    { op: 'flush-set', key: `set ${set}`, set, kind: actual.sets.get(set)?.kind ?? 'set' } as const,
    ...(bySet.get(set) ?? []).flatMap((element): Operation[] => {
      const key = nftItemKey({ kind: 'element', element });
      const isLeft = findings.has(key) || skip?.has(key) || !isWritable({ kind: 'element', element });
      return isLeft ? [] : [{ op: 'add-element', key, element }];
    }),
  ]);
};

const operationsOf = (finding: Finding, flushed: ReadonlySet<string>): Operation[] => {
  switch (finding.kind) {
    case 'chain':
      return chainOperations(finding);
    case 'set':
      return setOperations(finding);
    case 'element':
      return elementOperations(finding, flushed.has(finding.set));
    case 'other':
      return [{ op: 'delete-other', key: finding.key, ...finding.object }];
    case 'table':
      return [];
  }
};

const chainOperations = ({ key, desired, how }: Finding & { kind: 'chain' }): Operation[] => {
  const chain = desired?.name ?? key.slice('chain '.length);
  const isThere = how !== 'missing';
  return [
    ...(isThere ? [{ op: 'flush-chain', key, chain } as const] : []),
    ...(how === 'remade' || how === 'unwanted' ? [{ op: 'delete-chain', key, chain } as const] : []),
    ...(desired !== undefined && how !== 'rules' ? [{ op: 'add-chain', key, chain: desired } as const] : []),
    ...(desired?.rules ?? []).map((rule): Operation => ({ op: 'add-rule', key, chain, rule })),
  ];
};

/** Emptied first: what elements of a map jump to may go in the same transaction. */
const setOperations = ({ key, desired, actual: kind }: Finding & { kind: 'set' }): Operation[] => {
  const set = desired?.name ?? key.slice('set '.length);
  return [
    ...(kind === undefined
      ? []
      : ([
          { op: 'flush-set', key, set, kind },
          { op: 'delete-set', key, set, kind },
        ] as const)),
    ...(desired === undefined ? [] : [{ op: 'add-set', key, set: desired } as const]),
  ];
};

const elementOperations = (finding: Finding & { kind: 'element' }, isFlushed: boolean): Operation[] => {
  const { key, desired, how, set, actual } = finding;
  return [
    ...(how === 'missing' || isFlushed ? [] : [{ op: 'delete-element', key, set, element: actual } as const]),
    ...(desired === undefined ? [] : [{ op: 'add-element', key, element: desired } as const]),
  ];
};
