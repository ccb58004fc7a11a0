/** How long a file may be, so that it can be read at once. Functions of sources have biome's `noExcessiveLinesPerFunction`. */

export const MAX_LINES = 400;

/** Path → why it may be longer. Made by programs (`*.gen.ts`) is one that needs no entry. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {};

export interface FileSize {
  readonly path: string;
  readonly lines: number;
}

/** A sentence each. An exception that is not needed any more is one, too. */
export const sizeViolations = (
  files: readonly FileSize[],
  exceptions: Readonly<Record<string, string>> = EXCEPTIONS,
): string[] => {
  const long = files.filter(({ path, lines }) => lines > MAX_LINES && !path.endsWith('.gen.ts'));
  const paths = new Set(long.map(({ path }) => path));
  return [
    ...long
      .filter(({ path }) => exceptions[path] === undefined)
      .map(({ path, lines }) => `${path} has ${lines} lines, more than ${MAX_LINES}: divide it by what it is about`),
    ...Object.keys(exceptions)
      .filter((path) => !paths.has(path))
      .map((path) => `${path} is an exception of the rule about lines, and need not be one`),
  ];
};

export const lineCount = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
