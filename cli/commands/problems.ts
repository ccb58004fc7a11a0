/** `udnctl problems`: what this node's agent cannot do as desired, by cause. */
import type { ProblemStatus } from '../../api/agent-status.ts';
import { messageOf } from '../../base/error-message.ts';
import { CliError } from '../errors.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { TextOutput } from '../output/format.ts';
import { groupProblems } from '../problems/group.ts';
import { type LineOptions, problemLines } from '../problems/lines.ts';

export interface ProblemsOutput extends TextOutput {
  /** 1: there is an error. */
  readonly exitStatus: 0 | 1;
}

/** @throws CliError with exit status 2 when the agent cannot be asked */
export const listProblems = async (
  agent: Pick<AgentClient, 'problems'>,
  options: LineOptions = { all: false },
): Promise<ProblemsOutput> => {
  const problems = await agent.problems().catch((error: unknown) => {
    throw new CliError(messageOf(error), 2);
  });
  return outputOf(problems, options);
};

/** Of a node that cannot be reached: that is its problem. @param cause what the API server knows of it */
export const problemsUnreachable = (
  node: string,
  cause: string,
  options: LineOptions = { all: false },
): ProblemsOutput =>
  outputOf([{ object: `Node/${node}`, severity: 'error', message: cause, cause: 'node-unreachable' }], options);

const outputOf = (problems: readonly ProblemStatus[], options: LineOptions): ProblemsOutput => {
  const groups = groupProblems(problems);
  return {
    data: groups.flatMap((group) => [group, ...group.consequences].flatMap(({ problems: members }) => members)),
    lines: problemLines(groups, options),
    exitStatus: problems.some(({ severity }) => severity === 'error') ? 1 : 0,
  };
};
