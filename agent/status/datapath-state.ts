/** How far flows, the host's network stack and nftables are as they are wanted, in the words of the report. */
import type { Problem } from '../inputs/problem.ts';
import type { NodeDatapath } from '../reconcile/node-datapath.ts';
import type { ItemProblem } from '../reconcile/reconcile-loop.ts';
import type { OwnerState } from './network-state.ts';
import type { UnfinishedOwner } from './report.ts';

type Asked = Pick<NodeDatapath, 'problemOf' | 'problems' | 'ownersOf'>;

const DONE: OwnerState = { kind: 'done' };

/** What this machine cannot have at all keeps nobody from being done: the node is told of it. */
export const datapathState = (datapath: Pick<Asked, 'problemOf'>, owner: string): OwnerState => {
  const problem = datapath.problemOf(owner);
  return problem === undefined ? DONE : stateOf(problem);
};

/** The worse of what two places say of an owner. */
export const worseState = (a: OwnerState, b: OwnerState): OwnerState => (SEVERITY[b.kind] > SEVERITY[a.kind] ? b : a);

const SEVERITY = { done: 0, pending: 1, error: 2 } as const;

export const unfinishedItems = (datapath: Asked): UnfinishedOwner[] =>
  [...datapath.problems()]
    .filter(({ problem }) => problem.kind !== 'unsupported')
    .map(({ backend, key, problem }) => ({
      database: backend,
      owner: datapath.ownersOf(backend, key)[0] ?? key,
      state: stateOf({ ...problem, message: `${key}: ${problem.message}` }),
    }));

/** What this machine lacks, each once however many things need it. */
export const lackingOnNode = (datapath: Pick<Asked, 'problems'>, node: string): Problem[] => {
  const messages = [...datapath.problems()].flatMap(({ problem }) =>
    problem.kind === 'unsupported' ? problem.message : [],
  );
  return [...new Set(messages)].map((message) => ({ object: `Node/${node}`, message, severity: 'warning' }));
};

const stateOf = ({ kind, message }: Pick<ItemProblem, 'kind' | 'message'>): OwnerState => ({
  kind: kind === 'failed' ? 'error' : 'pending',
  message,
});
