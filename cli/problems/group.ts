/** Problems by their causes: what follows from another one is folded under it. Pure. */
import type { ProblemStatus } from '../../api/agent-status.ts';

export type Severity = ProblemStatus['severity'];

/** Problems of one cause, with one reason where they have one. */
export interface CauseGroup {
  readonly cause: string;
  readonly reason: string | undefined;
  readonly severity: Severity;
  /** At least one. */
  readonly problems: readonly ProblemStatus[];
}

export interface ProblemGroup extends CauseGroup {
  /** The worst, those that follow included. */
  readonly worst: Severity;
  readonly consequences: readonly CauseGroup[];
}

/** Every problem is in exactly one group, or one of its consequences. The worst come first, then those that most follow from. */
export const groupProblems = (problems: readonly ProblemStatus[]): ProblemGroup[] => {
  const groups = causeGroups(problems);
  const byRoot = Map.groupBy(groups, (group) => rootOf(group, groups));
  return [...byRoot]
    .map(([root, members]): ProblemGroup => {
      const consequences = members.filter((one) => one !== root).sort(bySeverity);
      return { ...root, worst: worstOf(members.map(({ severity }) => severity)), consequences };
    })
    .sort((a, b) => rank(a.worst) - rank(b.worst) || followers(b) - followers(a) || bySeverity(a, b));
};

interface Grouped extends CauseGroup {
  readonly because: string | undefined;
}

const causeGroups = (problems: readonly ProblemStatus[]): Grouped[] =>
  [...Map.groupBy(problems, ({ cause, reason, because }) => JSON.stringify([cause, reason, because])).values()].flatMap(
    (group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { cause, reason, because } = first;
      return [{ cause, reason, because, severity: worstOf(group.map((one) => one.severity)), problems: group }];
    },
  );

/** Itself where it follows from nothing that is there, or, in the end, from itself. */
const rootOf = (group: Grouped, groups: readonly Grouped[]): Grouped => {
  const passed = new Set<Grouped>();
  for (let at = group; ; ) {
    if (passed.has(at)) return group;
    passed.add(at);
    const { because } = at;
    const parent =
      because === undefined ? undefined : groups.filter(({ cause }) => cause === because).sort(bySeverity)[0];
    if (parent === undefined) return at;
    at = parent;
  }
};

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info'];
const rank = (severity: Severity): number => SEVERITIES.indexOf(severity);
const worstOf = (severities: readonly Severity[]): Severity =>
  SEVERITIES.find((severity) => severities.includes(severity)) ?? 'info';

const followers = ({ consequences }: ProblemGroup): number =>
  consequences.reduce((sum, { problems }) => sum + problems.length, 0);

/** Total: of equally bad ones those with most problems, then by name. */
const bySeverity = (a: CauseGroup, b: CauseGroup): number =>
  rank(a.severity) - rank(b.severity) || b.problems.length - a.problems.length || (nameOf(a) < nameOf(b) ? -1 : 1);

const nameOf = ({ cause, reason, problems }: CauseGroup): string =>
  JSON.stringify([cause, reason ?? '', problems[0]?.because ?? '', problems[0]?.object, problems[0]?.message]);
