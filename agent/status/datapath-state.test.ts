import { expect, it } from 'vitest';
import type { ItemProblem } from '../reconcile/reconcile-loop.ts';
import { datapathState, lackingOnNode, unfinishedItems, worseState } from './datapath-state.ts';

const NO_VRF = 'this kernel has no VRF';

const PROBLEMS: readonly { readonly key: string; readonly owner: string; readonly problem: ItemProblem }[] = [
  { key: 'link red', owner: 'host-network:red', problem: { kind: 'unsupported', message: NO_VRF, since: 1 } },
  { key: 'link blue', owner: 'host-network:blue', problem: { kind: 'unsupported', message: NO_VRF, since: 1 } },
  { key: 'addr mp0', owner: 'management-ports:default', problem: { kind: 'waiting', message: 'a link', since: 1 } },
  { key: 'route x', owner: 'host-network:green', problem: { kind: 'failed', message: 'EINVAL', since: 1 } },
];

const datapath = {
  problems: function* () {
    for (const { key, problem } of PROBLEMS) yield { backend: 'host' as const, key, problem };
  },
  problemOf: (owner: string) =>
    PROBLEMS.find((one) => one.owner === owner && one.problem.kind !== 'unsupported')?.problem,
  ownersOf: (_: string, key: string) => PROBLEMS.filter((one) => one.key === key).map(({ owner }) => owner),
};

it('an owner is in error when something of it failed, and pending when it waits', () => {
  expect(datapathState(datapath, 'host-network:green')).toEqual({ kind: 'error', message: 'EINVAL' });
  expect(datapathState(datapath, 'management-ports:default')).toEqual({ kind: 'pending', message: 'a link' });
  expect(datapathState(datapath, 'host-network:red')).toEqual({ kind: 'done' });
});

it('the worse of two states counts', () => {
  const [done, error] = [{ kind: 'done' }, { kind: 'error', message: 'no' }] as const;
  expect([worseState(done, error), worseState(error, done)]).toEqual([error, error]);
});

it('what waits or failed is listed with who wants it, what the machine lacks once for the node', () => {
  expect(unfinishedItems(datapath)).toEqual([
    {
      database: 'host',
      owner: 'management-ports:default',
      state: { kind: 'pending', message: 'addr mp0: a link' },
    },
    { database: 'host', owner: 'host-network:green', state: { kind: 'error', message: 'route x: EINVAL' } },
  ]);
  expect(lackingOnNode(datapath, 'n1')).toEqual([{ object: 'Node/n1', message: NO_VRF, severity: 'warning' }]);
});
