/** How a text differs from another one: what follows from both is in one golden text only. Pure. */
import { createHash } from 'node:crypto';
import { diff } from 'node:util';

/**
 * Lines that are missing (`- `) and that are added (`+ `), in order, under their headings (`# `). The digest stands for the text as a
 * whole: for where among equal lines they are.
 */
export const differenceOf = (base: readonly string[], text: readonly string[]): string[] => {
  const lines: string[] = [];
  let heading: string | undefined;
  for (const [side, line] of diff(base, text)) {
    if (side === SAME) {
      if (line.startsWith('# ')) heading = line;
      continue;
    }
    if (heading !== undefined) lines.push(heading);
    heading = undefined;
    lines.push(`${side === ADDED ? '+' : '-'} ${line}`);
  }
  const digest = createHash('sha256').update(text.join('\n')).digest('hex');
  return [...lines, `# ${text.length} lines, sha256 ${digest}`];
};

/** `util.diff` names its first argument the actual one: what only the second has is a deletion. */
const ADDED = -1;
const SAME = 0;
