import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ProblemStatus, problemSchema } from '../../api/agent-status.ts';
import { causeEntry, PROBLEM_CAUSES } from '../../api/problem-causes.ts';
import { listProblems, problemsUnreachable } from '../commands/problems.ts';
import { groupProblems } from './group.ts';

const problem = (of: Partial<ProblemStatus>): ProblemStatus => ({
  ...{ object: 'Node/n1', severity: 'warning', message: 'm', cause: 'other' },
  ...of,
});

const UPLINK = problem({
  severity: 'error',
  cause: 'uplink-off-bridge',
  message: 'uplink eth0 is not on br-ex: no traffic leaves this node',
});
const flows = (count: number): ProblemStatus[] =>
  Array.from({ length: count }, (_, index) =>
    problem({
      ...{ object: `gateway-bridge-network:net-${index}`, cause: 'waiting-for-another', because: 'uplink-off-bridge' },
      ...{ reason: 'port eth0 is not on bridge br-ex yet', message: `openflow: flow ${index}: port eth0 is not …` },
    }),
  );
const VRF = problem({ cause: 'kernel-lacks', message: 'this kernel has no VRF (CONFIG_NET_VRF)' });

const asked = async (problems: readonly ProblemStatus[], all = false) =>
  listProblems({ problems: () => Promise.resolve([...problems]) }, { all });

describe('problems', () => {
  it('of a node that cannot be reached are one, with the cause that the API server knows', () => {
    const cause = 'n1: NetworkUnavailable=UplinkNotOnBridge since 2026-01-01T00:00:00Z: uplink eth0 is not on br-ex';
    const { lines, exitStatus, data } = problemsUnreachable('n1', cause);
    expect(lines).toEqual([
      `error    ${cause}  [node-unreachable]`,
      expect.stringMatching(/^ {9}→ check the node itself/),
    ]);
    expect([exitStatus, data]).toEqual([
      1,
      [{ object: 'Node/n1', severity: 'error', message: cause, cause: 'node-unreachable' }],
    ]);
  });

  it('begin with the root cause, and have what follows from it in one line', async () => {
    const { lines, exitStatus, data } = await asked([VRF, ...flows(102), UPLINK]);
    expect(lines).toEqual([
      'error    uplink eth0 is not on br-ex: no traffic leaves this node  [uplink-off-bridge]',
      '         → attach it again: ovs-vsctl add-port BRIDGE UPLINK',
      '         follows from it: port eth0 is not on bridge br-ex yet (102 objects)  [waiting-for-another]',
      'warning  this kernel has no VRF (CONFIG_NET_VRF)  [kernel-lacks]',
      '         → docs/node.md says what works without it',
    ]);
    expect(exitStatus).toBe(1);
    expect(data).toHaveLength(104);
    expect((data as ProblemStatus[])[0]).toEqual(UPLINK);
  });

  it('name the first objects of each group, or all', async () => {
    const pods = Array.from({ length: 5 }, (_, index) =>
      problem({ object: `Pod/red/${index}`, cause: 'network-awaited', message: `m${index}` }),
    );
    expect((await asked(pods)).lines).toEqual([
      'warning  pods wait for their network (5 objects)  [network-awaited]',
      '         Pod/red/0: m0',
      '         Pod/red/1: m1',
      '         Pod/red/2: m2',
      '         and 2 more: --all lists them',
      '         → udnctl why pod NAMESPACE/NAME says what is missing',
    ]);
    expect((await asked(pods, true)).lines).toContain('         Pod/red/4: m4');
    expect((await asked([UPLINK, ...flows(2)], true)).lines).toContain(
      '           gateway-bridge-network:net-1: openflow: flow 1: port eth0 is not …',
    );
  });

  it('that are none end with status 0, warnings too; an agent that does not answer with 2', async () => {
    expect(await asked([])).toEqual({ data: [], lines: ['no problems'], exitStatus: 0 });
    expect((await asked([VRF])).exitStatus).toBe(0);
    const away = { problems: () => Promise.reject(new Error('the agent cannot be asked')) };
    await expect(listProblems(away)).rejects.toMatchObject({ exitStatus: 2 });
  });

  it('of a cause that only a newer agent knows are shown all the same', async () => {
    const { lines } = await asked([problem({ cause: 'of-the-future', message: 'something' })]);
    expect(lines[0]).toBe('warning  something  [of-the-future]');
  });
});

describe('groups', () => {
  const cause = fc.constantFrom('a', 'b', 'c', 'd');
  const arbitrary: fc.Arbitrary<ProblemStatus[]> = fc
    .array(
      fc.record(
        {
          object: fc.constantFrom('Node/n1', 'Pod/a/b', 'Pod/a/c'),
          severity: fc.constantFrom('error', 'warning', 'info'),
          message: fc.string({ maxLength: 3 }),
          cause,
          because: cause,
          reason: fc.constantFrom('r', 's'),
        },
        { requiredKeys: ['object', 'severity', 'message', 'cause'] },
      ),
    )
    .map((all) => all.map((one) => problemSchema.parse(one)));
  const rank = (severity: ProblemStatus['severity']): number => ['error', 'warning', 'info'].indexOf(severity);

  it('have every problem exactly once, also where causes go round in a circle', () =>
    fc.assert(
      fc.property(arbitrary, (problems) => {
        const members = groupProblems(problems).flatMap((group) =>
          [group, ...group.consequences].flatMap((one) => one.problems),
        );
        expect(new Set(members)).toEqual(new Set(problems));
        expect(members).toHaveLength(problems.length);
      }),
    ));

  it('come in the order of severity, and the same whatever the order of problems', () =>
    fc.assert(
      fc.property(arbitrary, (problems) => {
        const worst = groupProblems(problems).map((group) => rank(group.worst));
        expect(worst).toEqual(worst.toSorted((a, b) => a - b));
        const shape = (all: readonly ProblemStatus[]) =>
          groupProblems(all).map((group) => [group.cause, group.reason, group.worst, group.consequences.length]);
        expect(shape(problems.toReversed())).toEqual(shape(problems));
      }),
    ));

  it('that follow from one that is there are never at the top, unless that follows from them', () =>
    fc.assert(
      fc.property(arbitrary, (problems) => {
        const causes = new Set(problems.map((one) => one.cause));
        const tops = groupProblems(problems).flatMap((group) => group.problems);
        const free = (one: ProblemStatus): boolean => one.because === undefined || !causes.has(one.because);
        expect(tops).toEqual(expect.arrayContaining(problems.filter(free)));
        if (problems.some(free)) return;
        // All follow from something: there are circles only.
        expect(tops.length > 0).toBe(problems.length > 0);
      }),
    ));
});

it('docs show causes that there are, with what to do about them', () => {
  const docs = ['operations', 'udnctl'].map((name) =>
    readFileSync(join(import.meta.dirname, '..', '..', 'docs', `${name}.md`), 'utf8'),
  );
  const shown = docs.flatMap((text) => [
    ...text.matchAll(/^(?:error|warning|info) +.* \[([a-z-]+)\]\n(?: {9}[^→\n].*\n)*? {9}→ (.*)$/gm),
  ]);
  expect(shown.length).toBeGreaterThan(5);
  for (const [, cause = '', next] of shown) {
    expect(PROBLEM_CAUSES).toHaveProperty(cause);
    expect(next).toBe(causeEntry(cause).next);
  }
});
