export const code = (value: string | number | bigint): string => `\`${value}\``;

/** A table with columns of equal width, so that its text reads well too. */
export const markdownTable = (header: readonly string[], rows: readonly (readonly string[])[]): string => {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)));
  const format = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [format(header), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(format)].join(
    '\n',
  );
};
