/** How long a file may be, so that it can be read at once. Functions of sources have biome's `noExcessiveLinesPerFunction`. */

/** What a file may have without a word. */
export const USUAL_LINES = 300;
/** What it may have where its head says why it is one: `Over 300 lines: …`. */
export const MAX_LINES = 400;

/** Where what is longer than usual needs a reason. */
const STRICT = ['agent', 'api'];

const REASON = new RegExp(`\\bOver ${USUAL_LINES} lines: \\S.{19,}`);

export interface FileSize {
  readonly path: string;
  readonly lines: number;
  /** The comments before its first statement. */
  readonly head: string;
}

/**
 * One message each. A reason that is not needed any more is one, too. Made by programs (`*.gen.ts`) is one that may be
 * long.
 */
export const sizeViolations = (files: readonly FileSize[]): string[] =>
  files.flatMap((file) => (file.path.endsWith('.gen.ts') ? [] : (violationOf(file) ?? [])));

const violationOf = ({ path, lines, head }: FileSize): string | undefined => {
  const hasReason = REASON.test(head);
  if (lines > MAX_LINES) return `${path} has ${lines} lines, more than ${MAX_LINES}: divide it by what it is about`;
  if (lines <= USUAL_LINES) return hasReason ? `${path} says why it is long, and need not` : undefined;
  if (hasReason || !STRICT.some((folder) => path.startsWith(`${folder}/`))) return undefined;
  return `${path} has ${lines} lines: divide it, or say why not in its head ("Over ${USUAL_LINES} lines: …")`;
};

export const lineCount = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

/** @param text of TypeScript, C or Go, or of a script */
export const headOf = (text: string): string => /^(?:\s*(?:\/\*[\s\S]*?\*\/|\/\/.*|#.*))*/.exec(text)?.[0] ?? '';
