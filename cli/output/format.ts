/** What a command found, as people or programs want it. */
import { stringify } from 'yaml';
import { formatTable, type Table } from './table.ts';

export const OUTPUT_FORMATS = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export interface Output {
  /** For `json` and `yaml`. */
  readonly data: unknown;
  /** For `table`; shown one below the other. */
  readonly tables: readonly Table[];
}

/** Ends with a line break. */
export const formatOutput = ({ data, tables }: Output, format: OutputFormat): string => {
  switch (format) {
    case 'json':
      return `${JSON.stringify(data, undefined, 2)}\n`;
    case 'yaml':
      return stringify(data, { lineWidth: 0, aliasDuplicateObjects: false });
    case 'table':
      return tables.map(formatTable).join('\n');
  }
};
