/** What a command found, as people or programs want it. */
import { stringify } from 'yaml';
import { formatTable, type Table } from './table.ts';

export const OUTPUT_FORMATS = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export const TEXT_FORMATS = ['text', 'json', 'yaml'] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];

export interface Output {
  /** For `json` and `yaml`. */
  readonly data: unknown;
  /** For `table`; shown one below the other. */
  readonly tables: readonly Table[];
}

export interface TextOutput {
  /** For `json` and `yaml`. */
  readonly data: unknown;
  /** For `text`: lines. */
  readonly lines: readonly string[];
}

/** Ends with a line break. */
export const formatOutput = ({ data, tables }: Output, format: OutputFormat): string =>
  format === 'table' ? tables.map(formatTable).join('\n') : formatData(data, format);

/** Ends with a line break. */
export const formatTextOutput = ({ data, lines }: TextOutput, format: TextFormat): string =>
  format === 'text' ? lines.map((line) => `${line}\n`).join('') : formatData(data, format);

const formatData = (data: unknown, format: 'json' | 'yaml'): string =>
  format === 'json'
    ? `${JSON.stringify(data, undefined, 2)}\n`
    : stringify(data, { lineWidth: 0, aliasDuplicateObjects: false });
