/** What the table is after a transaction, without reading it. */

import { chainHeader, desiredElement, setHeader, setKind } from './desired-form.ts';
import type { Operation } from './operations.ts';
import { emptyTable, type TableState } from './table-state.ts';

/** @param table is changed @param printed the rules that were added, in the words of nft, in order */
export const applyOperations = (
  table: TableState | undefined,
  operations: readonly Operation[],
  printed: readonly string[],
): TableState | undefined => {
  let result = table;
  const rules = printed.values();
  for (const operation of operations) {
    if (operation.op === 'delete-table') result = undefined;
    else if (operation.op === 'add-table') result ??= emptyTable();
    else if (result !== undefined) applyToTable(result, operation, rules);
  }
  return result;
};

type InTable = Exclude<Operation, { op: 'delete-table' | 'add-table' }>;

const applyToTable = (table: TableState, operation: InTable, rules: Iterator<string>): void => {
  const { chains, sets } = table;
  switch (operation.op) {
    case 'flush-chain':
      setRules(table, operation.chain, () => []);
      return;
    case 'delete-element':
      sets.get(operation.set)?.elements.delete(operation.element);
      return;
    case 'flush-set':
      sets.get(operation.set)?.elements.clear();
      return;
    case 'delete-chain':
      chains.delete(operation.chain);
      return;
    case 'delete-set':
      sets.delete(operation.set);
      return;
    case 'delete-other':
      table.others = table.others.filter(({ name }) => name !== operation.name);
      return;
    case 'add-set':
      sets.set(operation.set.name, {
        kind: setKind(operation.set),
        header: setHeader(operation.set),
        elements: new Map(),
      });
      return;
    case 'add-chain':
      chains.set(operation.chain.name, { header: chainHeader(operation.chain), rules: [] });
      return;
    case 'add-element':
      addElement(table, operation);
      return;
    case 'add-rule':
      setRules(table, operation.chain, (before) => [...before, rules.next().value ?? operation.rule]);
  }
};

const setRules = (
  { chains }: TableState,
  name: string,
  change: (rules: readonly string[]) => readonly string[],
): void => {
  const chain = chains.get(name);
  if (chain !== undefined) chains.set(name, { ...chain, rules: change(chain.rules) });
};

const addElement = ({ sets }: TableState, { element }: Extract<Operation, { op: 'add-element' }>): void => {
  const set = sets.get(element.set);
  if (set === undefined) return;
  const { key, state } = desiredElement(set.header, element);
  set.elements.set(key, state);
};
