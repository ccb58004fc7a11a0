/** Commands of nft over a ruleset in memory. */

import { typesOf } from './desired-form.ts';
import { elementForm } from './element-form.ts';
import { splitOutsideQuotes } from './quoted-text.ts';
import { emptyTable, type SetState, type TableState } from './table-state.ts';

export interface FakeOutput {
  /** What `--echo` prints. */
  readonly echo: string[];
  /** What `monitor` prints. */
  readonly events: string[];
}

const ABSENT = 'Could not process rule: No such file or directory';
const BUSY = 'Could not process rule: Device or resource busy';
const EXISTS = 'Could not process rule: File exists';

/** @returns why it is refused */
export const runFakeCommand = (
  tables: Map<string, TableState>,
  line: string,
  output: FakeOutput,
): string | undefined => {
  if (line === '') return undefined;
  const [, verb = '', kind = '', name = '', rest = ''] = /^(\w+) (\w+) inet ([\w.-]+) ?(.*)$/s.exec(line) ?? [];
  if (verb === '') return 'syntax error';
  if (kind === 'table') return tableCommand(tables, { verb, name, body: rest }, output);
  const table = tables.get(name);
  if (table === undefined) return ABSENT;
  const [, object = '', body = ''] = /^([\w.-]+) ?(.*)$/s.exec(rest) ?? [];
  const refused = command(table, { verb, kind, object, body });
  if (typeof refused === 'string') return refused;
  const written =
    verb === 'insert'
      ? `add rule inet ${name} ${object} ${printed(body)}`
      : listedForm({ verb, kind, name, object, body });
  if (verb === 'add' || verb === 'insert') output.echo.push(written);
  output.events.push(written);
  return undefined;
};

interface Parts {
  readonly verb: string;
  readonly kind: string;
  readonly object: string;
  readonly body: string;
}

const listedForm = ({ verb, kind, name, object, body }: Parts & { name: string }): string => {
  const written = verb === 'flush' ? 'delete rule' : `${verb} ${kind}`;
  return `${written} inet ${name} ${object} ${kind === 'rule' ? printed(body) : body}`.trimEnd();
};

const tableCommand = (
  tables: Map<string, TableState>,
  { verb, name, body }: { verb: string; name: string; body: string },
  { echo, events }: FakeOutput,
): string | undefined => {
  if (verb === 'delete' && !tables.delete(name)) return ABSENT;
  if (verb === 'add') {
    const header = headerOf(body);
    tables.set(name, { ...(tables.get(name) ?? emptyTable()), header });
    echo.push(`add table inet ${name}`);
  }
  events.push(`${verb} table inet ${name}`);
  return undefined;
};

const command = (table: TableState, parts: Parts): string | undefined => {
  switch (parts.kind) {
    case 'chain':
      return chainCommand(table, parts);
    case 'set':
    case 'map':
      return setCommand(table, parts, parts.kind);
    case 'rule':
      return ruleCommand(table, parts);
    case 'element':
      return elementCommand(table, parts);
    default:
      return otherCommand(table, parts);
  }
};

const chainCommand = (table: TableState, { verb, object, body }: Parts): string | undefined => {
  const chain = table.chains.get(object);
  if (verb === 'add') {
    if (chain === undefined) table.chains.set(object, { header: headerOf(body), rules: [] });
    return undefined;
  }
  if (chain === undefined) return ABSENT;
  if (verb === 'flush') table.chains.set(object, { ...chain, rules: [] });
  else if (chain.rules.length > 0 && verb === 'delete') table.chains.set(object, { ...chain, rules: [] });
  if (verb !== 'delete') return undefined;
  if (isUsed(table, new RegExp(`(?:jump|goto) ${object}(?![\\w.-])`))) return BUSY;
  table.chains.delete(object);
  return undefined;
};

const setCommand = (table: TableState, { verb, object, body }: Parts, kind: 'set' | 'map'): string | undefined => {
  const set = table.sets.get(object);
  if (verb === 'add') {
    if (set === undefined) table.sets.set(object, { kind, header: headerOf(body), elements: new Map() });
    else if (typeLine(set.header) !== typeLine(headerOf(body))) return EXISTS;
    return undefined;
  }
  if (set === undefined || set.kind !== kind) return ABSENT;
  if (verb === 'flush') set.elements.clear();
  if (verb !== 'delete') return undefined;
  if (isUsed(table, new RegExp(`@${object}(?![\\w.-])`))) return BUSY;
  table.sets.delete(object);
  return undefined;
};

const typeLine = (header: readonly string[]): string => header.find((text) => text.startsWith('type ')) ?? '';

const ruleCommand = (table: TableState, { verb, object, body }: Parts): string | undefined => {
  const chain = table.chains.get(object);
  if (chain === undefined) return ABSENT;
  const names = [...body.matchAll(/@([\w.-]+)/g)].map(([, name = '']) => name);
  const jumps = [...body.matchAll(/(?:jump|goto) ([\w.-]+)/g)].map(([, name = '']) => name);
  if (names.some((name) => !table.sets.has(name)) || jumps.some((name) => !table.chains.has(name))) return ABSENT;
  if (body.includes('nonsense')) return 'syntax error, unexpected string';
  const rules = verb === 'insert' ? [printed(body), ...chain.rules] : [...chain.rules, printed(body)];
  table.chains.set(object, { ...chain, rules });
  return undefined;
};

/** As nft prints it: full lengths are left out, marks are hexadecimal. */
const printed = (rule: string): string =>
  rule
    .replace(/(\d)\/32\b/g, '$1')
    .replace(/mark set (\d+)/g, (_, mark: string) => `mark set 0x${Number(mark).toString(16).padStart(8, '0')}`);

const elementCommand = (table: TableState, { verb, object, body }: Parts): string | undefined => {
  const set = table.sets.get(object);
  if (set === undefined) return ABSENT;
  const refused = splitOutsideQuotes(body.replace(/^\{|\}$/g, ''), ',').map((text) =>
    oneElement(table, set, verb, text),
  );
  return refused.find((reason) => reason !== undefined);
};

const oneElement = (table: TableState, set: SetState, verb: string, text: string): string | undefined => {
  const [left = '', value] = splitOutsideQuotes(text.trim(), ' : ');
  const [, key = '', comment] = /^(.*?)(?: comment "(.*)")?$/s.exec(left) ?? [];
  const types = typesOf(set.header);
  const form = elementForm(types.key, key);
  if (form.split(' . ').length !== types.key.split(' . ').length) return 'datatype mismatch';
  if (verb === 'delete') return set.elements.delete(form) ? undefined : ABSENT;
  const [, chain] = /(?:jump|goto) ([\w.-]+)/.exec(value ?? '') ?? [];
  if (chain !== undefined && !table.chains.has(chain)) return ABSENT;
  const before = set.elements.get(form);
  const after = { value: value === undefined ? undefined : elementForm(types.value, value), comment };
  if (before !== undefined && before.value !== after.value) return EXISTS;
  if (before === undefined) set.elements.set(form, after);
  return undefined;
};

const otherCommand = (table: TableState, { verb, kind, object }: Parts): string | undefined => {
  const others = table.others.filter((other) => other.name !== object || other.kind !== kind);
  if (verb === 'delete' && others.length === table.others.length) return ABSENT;
  table.others = verb === 'add' ? [...others, { kind, name: object }] : others;
  return undefined;
};

const isUsed = ({ chains, sets }: TableState, pattern: RegExp): boolean =>
  chains.values().some(({ rules }) => rules.some((rule) => pattern.test(rule))) ||
  sets.values().some(({ elements }) => elements.values().some(({ value = '' }) => pattern.test(value)));

/** `{ type filter hook output priority 0; policy accept; comment "x"; }` → lines of a listing. */
const headerOf = (body: string): string[] => {
  const parts = splitOutsideQuotes(body.replace(/^\s*\{|\}\s*$/g, ''), ';')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const hook = parts.find((part) => part.includes(' hook '));
  if (hook === undefined) return parts;
  const policy = parts.find((part) => part.startsWith('policy ')) ?? 'policy accept';
  const others = parts.filter((part) => part !== hook && !part.startsWith('policy '));
  return [...others, `${hook}; ${policy};`];
};
