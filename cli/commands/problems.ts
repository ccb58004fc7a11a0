/** `udnctl problems`: what this node's agent cannot do as desired, and why. */
import type { AgentClient } from '../node/agent-client.ts';
import type { Output } from '../output/format.ts';

export const listProblems = async (agent: Pick<AgentClient, 'problems'>): Promise<Output> => {
  const problems = await agent.problems();
  const rows = problems.map(({ object, severity, message }) => [object, severity, message]);
  return { data: problems, tables: [{ head: ['OBJECT', 'SEVERITY', 'WHAT'], rows, empty: 'no problems' }] };
};
