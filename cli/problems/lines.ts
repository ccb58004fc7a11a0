/** Groups of problems for people: the first line is what is wrong, and what to do comes next. Pure. */
import type { ProblemStatus } from '../../api/agent-status.ts';
import { causeEntry } from '../../api/problem-causes.ts';
import type { CauseGroup, ProblemGroup } from './group.ts';

export interface LineOptions {
  /** Each object is listed, those of consequences too. */
  readonly all: boolean;
}

export const problemLines = (groups: readonly ProblemGroup[], options: LineOptions): string[] =>
  groups.length === 0 ? ['no problems'] : groups.flatMap((group) => groupLines(group, options));

const groupLines = (group: ProblemGroup, options: LineOptions): string[] => [
  `${group.worst.padEnd(SEVERITY_WIDTH)}${headline(group)}  [${group.cause}]`,
  ...objectLines(group, options).map(indented),
  indented(`→ ${causeEntry(group.cause).next}`),
  ...group.consequences.flatMap((one) => consequenceLines(one, options)).map(indented),
];

const SEVERITY_WIDTH = 'warning  '.length;
const indented = (line: string): string => `${' '.repeat(SEVERITY_WIDTH)}${line}`;

const headline = ({ cause, reason, problems }: CauseGroup): string => {
  const [only, ...others] = problems;
  if (only !== undefined && others.length === 0) return problemText(only);
  const count = `${problems.length} objects`;
  return `${reason ?? causeEntry(cause).summary} (${count})`;
};

/** What is wrong with the node is said of this one. */
const problemText = ({ object, message }: ProblemStatus): string =>
  object.startsWith('Node/') ? message : `${object}: ${message}`;

const objectLines = ({ problems }: CauseGroup, { all }: LineOptions): string[] => {
  if (problems.length === 1) return [];
  const shown = all ? problems : problems.slice(0, MAX_SHOWN);
  const more = problems.length - shown.length;
  const rest = more === 0 ? [] : [`and ${more} more: --all lists them`];
  return [...shown.map(({ object, message }) => `${object}: ${message}`), ...rest];
};

const MAX_SHOWN = 3;

const consequenceLines = (group: CauseGroup, { all }: LineOptions): string[] => {
  const count = group.problems.length;
  const what = `follows from it: ${headline(group)}  [${group.cause}]`;
  return all && count > 1 ? [what, ...objectLines(group, { all }).map((line) => `  ${line}`)] : [what];
};
