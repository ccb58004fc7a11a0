/** `docs/problems.md`: what can be wrong on a node, made of the registry of causes. */
import { PROBLEM_CAUSES } from '../api/problem-causes.ts';
import { code, markdownTable } from './markdown.ts';

/** Path from the repository's root → content. */
export const problemDocs = (): Record<string, string> => ({ 'docs/problems.md': text() });

const text = (): string =>
  `${[
    '# Causes of problems',
    'Made by `make gen` from `api/problem-causes.ts`; `make check` fails when it is not current. Do not edit it.',
    'What `udnctl problems` has in brackets, and `udnctl problems -o json` as `cause`. A problem is folded under one that it may follow from where' +
      ' the node, or the very object, has that one at the same time.',
    markdownTable(['cause', 'what is wrong', 'what to do', 'may follow from'], rows()),
  ].join('\n\n')}\n`;

const rows = (): string[][] =>
  Object.entries(PROBLEM_CAUSES).map(([cause, entry]) => [
    code(cause),
    entry.summary,
    entry.next,
    'follows' in entry ? entry.follows.map(code).join(', ') : '',
  ]);
