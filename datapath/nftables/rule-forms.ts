/**
 * Rules that are desired in other words than nft prints. What nft makes of a rule it says itself: `nft --echo` prints every
 * rule that a transaction adds. So it is remembered when a rule is written, and when nothing is remembered (after a
 * restart) it is asked: the rules are put into a table of another name whose chains hang on no hook, and that is deleted
 * again. Nothing is stored in the kernel for it, and no rewriting of texts is guessed.
 */

import type { Finding } from './compare.ts';
import { inOrder, type Operation, scriptOf } from './operations.ts';
import type { TableState } from './table-state.ts';
import { type Chain, type NftItem, OUR_TABLE } from './types.ts';

/** Desired text → printed text. */
export type RuleForms = ReadonlyMap<string, string>;

export const FORMS_TABLE = `${OUR_TABLE.name}-forms`;

/**
 * Chains that may be right in other words: as many rules as desired, some of which are not there literally and that
 * nothing is known of.
 */
export const chainsInOtherWords = (findings: Iterable<Finding>, actual: TableState, forms: RuleForms): Chain[] =>
  [...findings].flatMap((finding) => {
    if (finding.kind !== 'chain' || finding.how !== 'rules' || finding.desired === undefined) return [];
    const { desired } = finding;
    const rules = actual.chains.get(desired.name)?.rules ?? [];
    const isOpen = desired.rules.some((rule, index) => rule !== rules[index] && !forms.has(rule));
    return isOpen && rules.length === desired.rules.length ? [desired] : [];
  });

/** A script that makes nft print the rules of chains, and one that takes away what it made. */
export const formsScripts = (chains: readonly Chain[], desired: ReadonlyMap<string, NftItem>) => {
  const rules = chains.flatMap(({ rules }) => rules);
  const key = '';
  const jumps = rules.flatMap((rule) => matchesOf(rule, /(?:jump|goto) ([\w.-]+)/g));
  const names = new Set([...chains.map(({ name }) => name), ...jumps]);
  const sets = [...new Set(rules.flatMap((rule) => matchesOf(rule, /@([\w.-]+)/g)))].flatMap((name) => {
    const item = desired.get(`set ${name}`);
    return item?.kind === 'set' ? [item.set] : [];
  });
  const operations: Operation[] = [
    { op: 'delete-table', key },
    { op: 'add-table', key },
    ...sets.map((set): Operation => ({ op: 'add-set', key, set })),
    ...[...names].map((name): Operation => ({ op: 'add-chain', key, chain: { name, rules: [] } })),
    ...chains.flatMap((chain) =>
      chain.rules.map((rule): Operation => ({ op: 'add-rule', key, chain: chain.name, rule })),
    ),
  ];
  return {
    rules,
    make: scriptOf(inOrder(operations), FORMS_TABLE),
    remove: scriptOf([{ op: 'delete-table', key }], FORMS_TABLE),
  };
};

const matchesOf = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = '']) => name);
