/**
 * The difference as one transaction. Pure. A chain's rules are replaced when the chain differs, all of them at once, and
 * no other chain's; elements come and go one by one.
 */
import { compareKey, elementsBySet, type Finding, TABLE_KEY, unwantedThings } from './compare.ts';
import { canBeNamed } from './element-form.ts';
import { inOrder, type Operation } from './operations.ts';
import type { RuleForms } from './rule-forms.ts';
import { emptyTable, type TableState } from './table-state.ts';
import { type NftItem, nftItemKey } from './types.ts';
import { problemOf, typesOf } from './wanted-form.ts';

export interface PlanInput {
  readonly wanted: ReadonlyMap<string, NftItem>;
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

export const findingsOf = ({ wanted, actual, keys, prune, forms, skip, bare }: PlanOfTable): Map<string, Finding> => {
  const findings = new Map<string, Finding>();
  const add = (found: Finding | undefined): void => {
    const finding = found !== undefined && skip?.has(found.key) ? bareChain(found, bare) : found;
    if (finding === undefined || !isWritable(wanted.get(finding.key))) return;
    if (prune || ('wanted' in finding && finding.wanted !== undefined)) findings.set(finding.key, finding);
  };
  if (keys !== 'all') for (const key of keys) add(compareKey(key, wanted.get(key), actual, forms));
  else {
    for (const [key, item] of wanted) add(compareKey(key, item, actual, forms));
    for (const finding of unwantedThings(wanted, actual)) add(finding);
  }
  return findings;
};

/**
 * A chain to jump to whose rules are refused is made without them, or the rules that jump to it would be refused, too, and
 * with them the chains that they are in.
 */
const bareChain = (finding: Finding, bare: ReadonlySet<string> | undefined): Finding | undefined => {
  if (finding.kind !== 'chain' || finding.how !== 'missing' || !bare?.has(finding.key)) return undefined;
  const { wanted } = finding;
  return wanted === undefined || wanted.hook !== undefined
    ? undefined
    : { ...finding, wanted: { ...wanted, rules: [] } };
};

/** Nothing that is not one command gets into a script. */
const isWritable = (item: NftItem | undefined): boolean => item === undefined || problemOf(item) === undefined;

export const planOf = (input: PlanInput): Operation[] => {
  const { actual, wanted, keys, prune } = input;
  if (actual === undefined) return wanted.size === 0 ? [] : planOfNewTable(input, 'add-table');
  if (keys === 'all' && prune && wanted.size === 0) return [{ op: 'delete-table', key: TABLE_KEY }];
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

/** What has to be made anew because something that it uses is: rules, elements of sets, elements that jump. */
const addDependents = (findings: Map<string, Finding>, { wanted, actual, skip }: PlanOfTable): void => {
  const remade = remadeOf(findings);
  if (remade.sets.size + remade.chains.size === 0) return;
  for (const finding of findings.values()) {
    if (finding.kind === 'element' && remade.sets.has(finding.set)) findings.delete(finding.key);
  }
  for (const [key, item] of wanted) {
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
    new Set(remade.flatMap((one) => (one.kind === kind ? [one.wanted?.name ?? ''] : [])));
  return { sets: names('set'), chains: names('chain') };
};

const dependentOf = (key: string, item: NftItem, actual: TableState, remade: Remade): Finding | undefined => {
  if (item.kind === 'chain') {
    const before = actual.chains.get(item.chain.name)?.rules ?? [];
    const isHit = [...item.chain.rules, ...before].some((rule) => uses(rule, remade));
    return isHit ? { kind: 'chain', key, wanted: item.chain, how: 'rules' } : undefined;
  }
  if (item.kind === 'set') return undefined;
  const { element } = item;
  const isGone = remade.sets.has(element.set);
  if (!isGone && !uses(element.value ?? '', remade)) return undefined;
  const how = isGone ? 'missing' : 'changed';
  return { kind: 'element', key, wanted: element, how, set: element.set, actual: element.key };
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
  { wanted, actual, skip }: PlanOfTable,
): Operation[] => {
  if (flushed.size === 0) return [];
  const bySet = elementsBySet(wanted);
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

const chainOperations = ({ key, wanted, how }: Finding & { kind: 'chain' }): Operation[] => {
  const chain = wanted?.name ?? key.slice('chain '.length);
  const isThere = how !== 'missing';
  return [
    ...(isThere ? [{ op: 'flush-chain', key, chain } as const] : []),
    ...(how === 'remade' || how === 'unwanted' ? [{ op: 'delete-chain', key, chain } as const] : []),
    ...(wanted !== undefined && how !== 'rules' ? [{ op: 'add-chain', key, chain: wanted } as const] : []),
    ...(wanted?.rules ?? []).map((rule): Operation => ({ op: 'add-rule', key, chain, rule })),
  ];
};

/** Emptied first: what elements of a map jump to may go in the same transaction. */
const setOperations = ({ key, wanted, actual: kind }: Finding & { kind: 'set' }): Operation[] => {
  const set = wanted?.name ?? key.slice('set '.length);
  return [
    ...(kind === undefined
      ? []
      : ([
          { op: 'flush-set', key, set, kind },
          { op: 'delete-set', key, set, kind },
        ] as const)),
    ...(wanted === undefined ? [] : [{ op: 'add-set', key, set: wanted } as const]),
  ];
};

const elementOperations = (finding: Finding & { kind: 'element' }, isFlushed: boolean): Operation[] => {
  const { key, wanted, how, set, actual } = finding;
  return [
    ...(how === 'missing' || isFlushed ? [] : [{ op: 'delete-element', key, set, element: actual } as const]),
    ...(wanted === undefined ? [] : [{ op: 'add-element', key, element: wanted } as const]),
  ];
};
