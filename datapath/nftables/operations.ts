/** What changes a table, and the script that does it. Every operation is one line, so that nft's errors name one of them. */

import { chainHeader, elementText, setHeader, setKind } from './desired-form.ts';
import { type Chain, type Element, type NftSet, OUR_TABLE } from './types.ts';

export type Operation = {
  /** Key of the item because of which it is done. */
  readonly key: string;
} & (
  | { readonly op: 'add-table' }
  | { readonly op: 'delete-table' }
  | { readonly op: 'flush-chain'; readonly chain: string }
  | { readonly op: 'delete-element'; readonly set: string; readonly element: string }
  | { readonly op: 'flush-set'; readonly set: string; readonly kind: 'set' | 'map' }
  | { readonly op: 'delete-chain'; readonly chain: string }
  | { readonly op: 'delete-set'; readonly set: string; readonly kind: 'set' | 'map' }
  | { readonly op: 'delete-other'; readonly kind: string; readonly name: string }
  | { readonly op: 'add-set'; readonly set: NftSet }
  | { readonly op: 'add-chain'; readonly chain: Chain }
  | { readonly op: 'add-element'; readonly element: Element }
  | { readonly op: 'add-rule'; readonly chain: string; readonly rule: string }
);

/**
 * The order within a transaction: what uses goes before what is used, and comes after it. Rules hold sets and chains,
 * elements of verdict maps hold chains.
 */
const ORDER: readonly Operation['op'][] = [
  'delete-table',
  'add-table',
  'flush-chain',
  'delete-element',
  'flush-set',
  'delete-chain',
  'delete-set',
  'delete-other',
  'add-set',
  'add-chain',
  'add-element',
  'add-rule',
];

/** Operations of a kind stay in the order in which they are. */
export const inOrder = (operations: readonly Operation[]): Operation[] => {
  const byKind = Map.groupBy(operations, ({ op }) => op);
  return ORDER.flatMap((op) => byKind.get(op) ?? []);
};

/**
 * The first line changes nothing where there is a table. It is there because nft only says the number of a transaction,
 * by which the monitor knows our own, when the first command is one that adds.
 */
export const scriptOf = (operations: readonly Operation[], table: string = OUR_TABLE.name): string =>
  [{ op: 'add-table', key: '' } as const, ...operations]
    .map((operation) => `${lineOf(operation, `${OUR_TABLE.family} ${table}`)}\n`)
    .join('');

/** What a line of a script does, from 0. */
export const operationAt = (operations: readonly Operation[], line: number): Operation | undefined =>
  operations[line - 1];

const lineOf = (operation: Operation, table: string): string => {
  switch (operation.op) {
    case 'add-table':
      return `add table ${table}`;
    case 'delete-table':
      return `delete table ${table}`;
    case 'flush-chain':
      return `flush chain ${table} ${operation.chain}`;
    case 'delete-element':
      return `delete element ${table} ${operation.set} { ${operation.element} }`;
    case 'flush-set':
      return `flush ${operation.kind} ${table} ${operation.set}`;
    case 'delete-chain':
      return `delete chain ${table} ${operation.chain}`;
    case 'delete-set':
      return `delete ${operation.kind} ${table} ${operation.set}`;
    case 'delete-other':
      return `delete ${operation.kind} ${table} ${operation.name}`;
    case 'add-set':
      return `add ${setKind(operation.set)} ${table} ${operation.set.name} { ${setHeader(operation.set).join('; ')}; }`;
    case 'add-chain':
      return `add chain ${table} ${operation.chain.name}${chainBody(operation.chain)}`;
    case 'add-element':
      return `add element ${table} ${operation.element.set} { ${elementText(operation.element)} }`;
    case 'add-rule':
      return `add rule ${table} ${operation.chain} ${operation.rule}`;
  }
};

const chainBody = (chain: Chain): string => {
  const parts = chainHeader(chain).map((part) => (part.endsWith(';') ? part : `${part};`));
  return parts.length === 0 ? '' : ` { ${parts.join(' ')} }`;
};
