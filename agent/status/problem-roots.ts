/** Which problem a problem follows from. Pure. */

import type { ProblemStatus } from '../../api/agent-status.ts';
import { causeEntry } from '../../api/problem-causes.ts';

/**
 * Sets `because` where the registry of causes says that one may follow from another, and the node, or the same object, has that one
 * now. What was set by whoever knew more stays, where there is such a problem.
 */
export const withRoots = (problems: readonly ProblemStatus[]): ProblemStatus[] => {
  const byCause = Map.groupBy(problems, ({ cause }) => cause);
  const isRootOf = (problem: ProblemStatus, cause: string): boolean =>
    cause !== problem.cause &&
    (byCause.get(cause) ?? []).some(({ object }) => object.startsWith('Node/') || object === problem.object);
  return problems.map(({ because: known, ...problem }) => {
    const because =
      known !== undefined && byCause.has(known)
        ? known
        : causeEntry(problem.cause).follows?.find((cause) => isRootOf(problem, cause));
    return because === undefined ? problem : { ...problem, because };
  });
};
