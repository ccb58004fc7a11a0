/**
 * Reads what `nft -s -y list table` prints. Text and not JSON, because the JSON of nft 1.1 leaves out the level of `socket
 * cgroupv2`, and because a rule's text is the desired state and what people compare.
 */

import { typesOf } from './desired-form.ts';
import { elementForm } from './element-form.ts';
import { NftError } from './errors.ts';
import { endsQuoted, splitOutsideQuotes } from './quoted-text.ts';
import type { TableState } from './table-state.ts';
import { type ChainState, type ElementState, emptyTable, type OtherObject, type SetState } from './table-state.ts';

/** @throws NftError ERR_NFT_LISTING */
export const parseListing = (text: string): TableState => {
  const lines = new Lines(text);
  if (!/^table inet \S+ \{$/.test(lines.next())) throw malformed('it does not begin with the table');
  const table = emptyTable();
  const header: string[] = [];
  const others: OtherObject[] = [];
  for (let line = lines.next(); line !== '}'; line = lines.next()) {
    if (line === '') continue;
    const [, kind = '', name = ''] = /^\t(.+) (\S+) \{$/.exec(line) ?? [];
    if (kind === '' && !line.endsWith('{')) header.push(line.trim());
    else if (kind === 'chain') table.chains.set(name, parseChain(lines.block()));
    else if (kind === 'set' || kind === 'map') table.sets.set(name, parseSet(kind, lines.block()));
    else if (kind === '') throw malformed(`no object begins with ${JSON.stringify(line)}`);
    else {
      lines.block();
      others.push({ kind, name });
    }
  }
  return { ...table, header, others };
};

/** Comments are the only thing that may have line breaks in it: such lines belong together. */
class Lines {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#lines = text.split('\n');
  }

  next(): string {
    let line = this.#take();
    while (endsQuoted(line)) line += `\n${this.#take()}`;
    return line;
  }

  /** To the end of an object. */
  block(): string[] {
    const lines: string[] = [];
    for (let line = this.next(); line !== '\t}'; line = this.next()) lines.push(line);
    return lines;
  }

  #take(): string {
    const line = this.#lines[this.#at++];
    if (line === undefined) throw malformed('it ends too early');
    return line;
  }
}

const CHAIN_HEADER = /^(comment ".*"|type \w+ hook |flags |devices? )/s;

const parseChain = (lines: readonly string[]): ChainState => {
  const texts = lines.map((line) => line.trim()).filter((line) => line !== '');
  const firstRule = texts.findIndex((text) => !CHAIN_HEADER.test(text));
  const rules = firstRule === -1 ? texts.length : firstRule;
  return { header: texts.slice(0, rules), rules: texts.slice(rules) };
};

const ELEMENTS = 'elements = {';

const parseSet = (kind: 'set' | 'map', lines: readonly string[]): SetState => {
  const texts = lines.map((line) => line.trim());
  const first = texts.findIndex((text) => text.startsWith(ELEMENTS));
  const header = (first === -1 ? texts : texts.slice(0, first)).filter((text) => text !== '');
  const elements = new Map<string, ElementState>();
  if (first === -1) return { kind, header, elements };
  const list = texts.slice(first).join(' ').slice(ELEMENTS.length);
  if (!list.endsWith('}')) throw malformed('elements have no end');
  const types = typesOf(header);
  for (const text of splitOutsideQuotes(list.slice(0, -1), ',')) {
    const { key, ...state } = parseElement(text.trim());
    const value = state.value === undefined ? undefined : elementForm(types.value, state.value);
    elements.set(elementForm(types.key, key), { ...state, value });
  }
  return { kind, header, elements };
};

const parseElement = (text: string): ElementState & { readonly key: string } => {
  const [left = '', value, ...rest] = splitOutsideQuotes(text, ' : ');
  const [, key = '', extra, comment] =
    /^(.*?)((?: (?:timeout|expires|counter|limit|quota|last) [^"]*?)?)(?: comment "([^"]*)")?$/s.exec(left) ?? [];
  if (key.trim() === '' || rest.length > 0) throw malformed(`${JSON.stringify(text)} is no element`);
  return { key: key.trim(), value: value?.trim(), comment, extra: extra === '' ? undefined : extra?.trim() };
};

const malformed = (why: string): NftError =>
  new NftError('ERR_NFT_LISTING', `the listing of the table cannot be read: ${why}`);
