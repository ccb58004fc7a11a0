/** The `console` blocks of a document: commands after `$ `, and below each what it prints. */

export interface ConsoleCommand {
  /** As it stands in the document. */
  readonly text: string;
  /** What the document says that it prints, by lines. */
  readonly output: readonly string[];
  /** After `# exit status`; else 0. */
  readonly status: number;
}

const BLOCK = /^```console\n([\s\S]*?)^```$/gm;

/** All commands of a document, in their order. */
export const consoleCommands = (markdown: string): ConsoleCommand[] =>
  [...markdown.matchAll(BLOCK)].flatMap(([, block = '']) => commandsOf(block));

/** The document with what the commands have really printed. @param outputs one for each command, in their order */
export const withOutputs = (markdown: string, outputs: readonly (readonly string[])[]): string => {
  const left = [...outputs];
  return markdown.replaceAll(BLOCK, (_, block: string) => {
    const lines = commandsOf(block).flatMap(({ text }) => [`$ ${text}`, ...(left.shift() ?? [])]);
    return ['```console', ...lines, '```'].join('\n');
  });
};

/**
 * What stays the same from run to run: words without a digit, in any order, as addresses decide about the order of lists, and
 * how many others there are. No widths of columns.
 */
export const shapeOf = (line: string): string =>
  line
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map((word) => (/\d/.test(word) ? '#' : word))
    .sort()
    .join(' ');

const commandsOf = (block: string): ConsoleCommand[] => {
  const commands: { text: string; output: string[]; status: number }[] = [];
  for (const line of block.split('\n').slice(0, -1)) {
    if (!line.startsWith('$ ')) commands.at(-1)?.output.push(line);
    else commands.push({ text: line.slice(2), output: [], status: statusOf(line) });
  }
  return commands;
};

const statusOf = (line: string): number => Number(/# exit status (\d+)$/.exec(line)?.[1] ?? 0);
