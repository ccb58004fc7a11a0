/** `udnctl problems`: what this node's agent cannot do as desired, by cause. */
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
  const groups = groupProblems(problems);
  return {
    data: groups.flatMap((group) => [group, ...group.consequences].flatMap(({ problems: members }) => members)),
    lines: problemLines(groups, options),
    exitStatus: problems.some(({ severity }) => severity === 'error') ? 1 : 0,
  };
};
