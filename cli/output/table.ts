/** A text table: columns as wide as their widest cell, two spaces between them. */
export interface Table {
  /** Above the table, when there are several. */
  readonly title?: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Instead of the rows, when there are none. */
  readonly empty?: string;
}

/** Ends with a line break. A cell with line breaks makes its row several lines high. */
export const formatTable = ({ title, head, rows, empty }: Table): string => {
  const lines = rows.length === 0 && empty !== undefined ? [empty] : formatRows([head, ...rows]);
  return `${[...(title === undefined ? [] : [title]), ...lines].join('\n')}\n`;
};

const formatRows = (rows: readonly (readonly string[])[]): string[] => {
  const split = rows.map((row) => row.map((cell) => cell.split('\n')));
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...split.map((row) => Math.max(...(row[column] ?? ['']).map((text) => text.length)))),
  );
  return split.flatMap((row) => formatRow(row, widths));
};

const formatRow = (row: readonly (readonly string[])[], widths: readonly number[]): string[] => {
  const height = Math.max(1, ...row.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) =>
    row
      .map((cell, column) => (cell[line] ?? '').padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};
