/** A flow in its one form: `identity` says which flow it is, cookie and actions what it does. */
import { invalid, syntaxError } from '../errors.ts';
import { canonicalActions } from './actions.ts';
import { canonicalMatch } from './match.ts';
import { hex } from './values.ts';

export interface FlowState {
  /** As `0xdeff105`; `0` for none. */
  readonly cookie: string;
  /** `drop` for none. */
  readonly actions: string;
}

export interface CanonicalFlow extends FlowState {
  /** Table, priority and match as ovs-ofctl reads them: `table=0,priority=10,in_port=2,dl_src=0a:00:00:00:00:01`. */
  readonly identity: string;
}

export const DEFAULT_PRIORITY = 32_768;

export interface FlowParts {
  readonly table: number;
  readonly priority: number;
  readonly match: Iterable<readonly [string, string | true]>;
  readonly cookie: bigint;
  readonly actions: string;
}

/** @throws OpenflowError ERR_OPENFLOW_SYNTAX, ERR_OPENFLOW_INVALID */
export const canonicalFlow = (parts: FlowParts): CanonicalFlow => {
  const { table, priority } = parts;
  if (!isWhole(table, 254)) throw invalid(`${table} is not a table`);
  if (!isWhole(priority, 65_535)) throw invalid(`${priority} is not a priority`);
  if (parts.cookie < 0n || parts.cookie >> 64n !== 0n) throw invalid(`${parts.cookie} is not a cookie`);
  const match = canonicalMatch(parts.match);
  return {
    identity: formatIdentity(table, priority, match.text),
    cookie: cookieText(parts.cookie),
    actions: canonicalActions(parts.actions, match),
  };
};

/** The same of what ovs-ofctl printed. It prints values and actions in their one form, only the order of fields varies. */
export const printedFlow = (table: number, priority: number, printed: PrintedParts): CanonicalFlow => ({
  identity: formatIdentity(table, priority, printedMatch(printed.match)),
  cookie: printed.cookie,
  actions: printed.actions,
});

export interface PrintedParts {
  readonly match: readonly string[];
  readonly cookie: string;
  readonly actions: string;
}

export const formatIdentity = (table: number, priority: number, match: string): string =>
  `table=${table},priority=${priority}${match === '' ? '' : `,${match}`}`;

/** What ovs-ofctl reads after `flow add`. */
export const formatFlow = ({ identity, cookie, actions }: CanonicalFlow): string =>
  `${identity},cookie=${cookie},actions=${actions}`;

const cookieTexts = new Map<bigint, string>();
const printedCookies = new Map<string, string>();
const MOST_COOKIES = 64;

/** Few cookies, many flows: each text is made once. */
export const cookieText = (cookie: bigint): string => {
  const known = cookieTexts.get(cookie);
  if (known !== undefined) return known;
  const text = hex(cookie);
  if (cookieTexts.size < MOST_COOKIES) cookieTexts.set(cookie, text);
  return text;
};

/** Few fields, mostly in order: sorted by insertion, which takes a fraction of what a general sort does. */
const printedMatch = (fields: readonly string[]): string => {
  if (fields.length < 2) return fields.join();
  const sorted: string[] = [];
  const ranks: number[] = [];
  for (const field of fields) {
    const rank = rankOf(field);
    let at = sorted.length;
    for (; at > 0 && isBefore(field, rank, sorted[at - 1] ?? '', ranks[at - 1] ?? 0); at--) {
      sorted[at] = sorted[at - 1] ?? '';
      ranks[at] = ranks[at - 1] ?? 0;
    }
    sorted[at] = field;
    ranks[at] = rank;
  }
  return sorted.join(',');
};

const isBefore = (a: string, rankOfA: number, b: string, rankOfB: number): boolean =>
  rankOfA === rankOfB ? a < b : rankOfA < rankOfB;

const rankOf = (field: string): number => (field.includes('=') ? (field.startsWith('in_port=') ? 1 : 2) : 0);

/** Not with what they are looked up by, which is a view: with themselves. */
const keptCopies = new Map<string, string>();
const MOST_KEPT = 1_024;

/** A copy, not a view that keeps the whole output in memory. Those that are alike come one after the other, and are kept once. */
export const keptActions = (text: string): string => {
  if (text.length < SHORTEST_VIEW) return text;
  const known = keptCopies.get(text);
  if (known !== undefined) return known;
  const copy = Buffer.from(text).toString();
  if (keptCopies.size >= MOST_KEPT) keptCopies.clear();
  keptCopies.set(copy, copy);
  return copy;
};

/** V8 copies shorter ones. */
const SHORTEST_VIEW = 13;

/** Fields of a printed match; empty for all packets. */
export const fieldsOf = (text: string): string[] => {
  const fields: string[] = [];
  for (const part of text.split(',')) {
    const field = part.trim();
    if (field !== '') fields.push(field);
  }
  return fields;
};

/** @throws OpenflowError ERR_OPENFLOW_SYNTAX */
export const printedCookie = (text: string): string => {
  const known = printedCookies.get(text);
  if (known !== undefined) return known;
  if (!/^(?:0x[0-9a-f]{1,16}|0)$/.test(text)) throw syntaxError('a cookie', text);
  const printed = cookieText(BigInt(text));
  if (printedCookies.size < MOST_COOKIES) printedCookies.set(printed, printed);
  return printed;
};

/** @throws OpenflowError ERR_OPENFLOW_SYNTAX */
export const printedNumber = (text: string, most: number): number => {
  const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!isWhole(value, most)) throw syntaxError(`a number up to ${most}`, text);
  return value;
};

const isWhole = (value: number, most: number): boolean => Number.isInteger(value) && value >= 0 && value <= most;
