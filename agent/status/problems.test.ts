import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ProblemStatus, problemSchema } from '../../api/agent-status.ts';
import { PROBLEM_CAUSES } from '../../api/problem-causes.ts';
import type { Problem, Status } from '../../base/reconciler.ts';
import { operationError } from '../../ovsdb/errors.ts';
import { AttachmentRegistry } from '../cni/attachments/registry.ts';
import { PodFailures } from '../cni/pod-failures.ts';
import { TestCluster } from '../testing/cluster.ts';
import { fakeReconciler } from '../testing/fake-reconciler.ts';
import { withRoots } from './problem-roots.ts';
import { type ProblemSources, reportProblems } from './problems.ts';

const sourcesOf = (it = new TestCluster('node1')): ProblemSources => {
  it.engine.flush();
  const registry = new AttachmentRegistry();
  for (const [owner, attachments] of it.sinks.attachments) registry.set(owner, attachments);
  return {
    node: 'node1',
    facts: it.facts,
    registry,
    podFailures: new PodFailures(),
    diagnostics: new Map(),
    inputProblems: () => [],
    reconcilers: new Map(),
    unreachable: () => [],
  };
};

const failing = (problems: readonly Problem[], message?: string) =>
  fakeReconciler({
    problems: () => problems,
    queue: () => ({
      ...{ depth: 1, oldestMs: 1, stalledMs: 0, hasCompared: true },
      failing: message === undefined ? undefined : { forMs: 1_000, message },
    }),
  });

const lacking = (owner: string, key: string, status: Status): Problem => ({ owner, key, isDesired: true, status });

describe('of the reconcilers', () => {
  it('what waits or failed is listed with its owner and key, and not what is pending', () => {
    const host = failing([
      lacking('host-network:red', 'link red', { kind: 'pending', message: 'no answer' }),
      lacking('management-ports:default', 'addr mp0', { kind: 'waiting', message: 'a link' }),
      { owner: 'route x', key: 'route x', isDesired: false, status: { kind: 'failed', message: 'EINVAL' } },
    ]);
    expect(reportProblems({ ...sourcesOf(), reconcilers: new Map([['host', host]]) })).toEqual([
      {
        ...{ object: 'management-ports:default', severity: 'warning', cause: 'waiting-for-another' },
        ...{ message: 'host: addr mp0: a link', reason: 'a link' },
      },
      {
        ...{ object: 'route x', severity: 'error', cause: 'not-programmed' },
        ...{ message: 'host: route x: EINVAL', reason: 'EINVAL' },
      },
    ]);
  });

  it('what the machine lacks is listed once for the node', () => {
    const status: Status = { kind: 'unsupported', message: 'this kernel has no VRF' };
    const host = failing(['red', 'blue'].map((name) => lacking(`host-network:${name}`, `link ${name}`, status)));
    expect(reportProblems({ ...sourcesOf(), reconcilers: new Map([['host', host]]) })).toEqual([
      { object: 'Node/node1', severity: 'info', message: 'this kernel has no VRF', cause: 'kernel-lacks' },
    ]);
  });

  it('what a part that does not answer cannot do follows from that', () => {
    const nftables = failing(
      [lacking('isolation:x', 'chain', { kind: 'failed', message: 'no answer' })],
      'nft: Operation not supported',
    );
    expect(reportProblems({ ...sourcesOf(), reconcilers: new Map([['nftables', nftables]]) })).toMatchObject([
      { cause: 'backend-failing', message: 'nftables does not answer: nft: Operation not supported' },
      { cause: 'not-programmed', because: 'backend-failing' },
    ]);
    const northbound = failing([lacking('pods:x', 'row', { kind: 'failed', message: 'no answer' })], 'closed');
    const away = {
      reconcilers: new Map([['northbound' as const, northbound]]),
      unreachable: () => ['northbound'] as const,
    };
    expect(reportProblems({ ...sourcesOf(), ...away })).toMatchObject([
      { cause: 'database-unreachable', message: 'database northbound cannot be reached' },
      { cause: 'not-programmed', because: 'database-unreachable' },
    ]);
  });

  it('flows that wait for the uplink follow from its not being on the bridge, and others do not', () => {
    const cluster = new TestCluster('node1').gateway('node1', { addresses: ['172.20.0.11/24'] });
    const sources = sourcesOf(cluster);
    const { bridge = '', uplink = '' } = sources.facts.get('gateway', 'node1') ?? {};
    const waits = (port: string): Problem =>
      lacking('gateway-bridge:', `flow ${port}`, {
        kind: 'waiting',
        message: `port ${port} is not on bridge ${bridge} yet`,
      });
    const openflow = failing([waits(uplink), waits('patch')]);
    const found = reportProblems({
      ...{ ...sources, reconcilers: new Map([['openflow', openflow]]) },
      inputProblems: () => [{ object: 'Node/node1', message: 'off', cause: 'uplink-off-bridge' }],
    });
    expect(found.map(({ cause, because }) => [cause, because])).toEqual([
      ['uplink-off-bridge', undefined],
      ['waiting-for-another', 'uplink-off-bridge'],
      ['waiting-for-another', undefined],
    ]);
  });
});

describe('of pods', () => {
  const cluster = () => new TestCluster('node1').namespace('ns').pod('ns/a', { node: 'node1', networks: {} });
  const add = { command: 'ADD', pod: { namespace: 'ns', name: 'a', uid: 'uid-a' } } as const;
  const details = 'conf.db: write failed (No space left on device)';
  const io = operationError({ error: 'I/O error', details, index: undefined, operation: undefined, suspects: [] });

  it('has the last call that failed, with what the database said', () => {
    const sources = sourcesOf(cluster());
    const podFailures = new PodFailures();
    podFailures.failed(add, io);
    expect(reportProblems({ ...sources, podFailures })).toEqual([
      {
        ...{ object: 'Pod/ns/a', severity: 'error', cause: 'cni-ovsdb' },
        message: `CNI ADD failed: commit: I/O error: ${details}`,
      },
    ]);
    podFailures.waits(add, 'no addresses');
    expect(reportProblems({ ...sources, podFailures })).toMatchObject([
      { severity: 'warning', cause: 'cni-waiting-for-network', message: 'CNI ADD waits: no addresses' },
    ]);
    podFailures.succeeded(add);
    expect(reportProblems({ ...sources, podFailures })).toEqual([]);
  });

  it('forgets what a pod could not be added for when it is gone, or another has its name; not a DEL', () => {
    const podFailures = new PodFailures();
    podFailures.failed({ ...add, pod: { ...add.pod, uid: 'uid-before' } }, io);
    expect(reportProblems({ ...sourcesOf(cluster()), podFailures })).toEqual([]);
    podFailures.failed(add, io);
    expect(reportProblems({ ...sourcesOf(), podFailures })).toEqual([]);
    podFailures.failed({ ...add, command: 'DEL' }, io);
    expect(reportProblems({ ...sourcesOf(), podFailures })).toMatchObject([{ message: /^CNI DEL failed/ }]);
  });

  it('an ADD that waits follows from what the pod itself lacks', () => {
    const podFailures = new PodFailures();
    podFailures.waits(add, 'no addresses');
    const exhausted = (object: string) => ({
      object,
      message: 'no address is left',
      cause: 'addresses-exhausted' as const,
    });
    const becauseOf = (object: string) =>
      reportProblems({ ...sourcesOf(cluster()), podFailures, inputProblems: () => [exhausted(object)] }).at(-1)
        ?.because;
    expect([becauseOf('Pod/ns/a'), becauseOf('Pod/ns/b')]).toEqual(['addresses-exhausted', undefined]);
  });
});

it('a problem that its reader and a feature report is listed once, as the worse of both', () => {
  const [object, message] = ['Pod/red/a', '[0].port: "99999" is not a port'];
  const diagnostics = new Map([['host-isolation-pod:red/a', [{ object, message, severity: 'warning' as const }]]]);
  const sources = { ...sourcesOf(), diagnostics };
  const cause = 'other';
  expect(reportProblems({ ...sources, inputProblems: () => [{ object, message }] })).toEqual([
    { object, message, severity: 'error', cause },
  ]);
  expect(reportProblems(sources)).toEqual([{ object, message, severity: 'warning', cause }]);
});

it('every cause follows only from causes that there are, and says what to do', () => {
  const causes = Object.keys(PROBLEM_CAUSES);
  expect(causes.filter((cause) => cause !== 'other')).toEqual(causes.filter((cause) => cause !== 'other').toSorted());
  for (const entry of Object.values(PROBLEM_CAUSES)) {
    expect(causes).toEqual(expect.arrayContaining([...('follows' in entry ? entry.follows : [])]));
    expect(entry.next).toMatch(/[^.]$/);
  }
});

it('roots are causes that some problem has, and nothing else of a problem changes', () => {
  const cause = fc.constantFrom(...Object.keys(PROBLEM_CAUSES));
  const problem: fc.Arbitrary<ProblemStatus> = fc
    .record(
      {
        object: fc.constantFrom('Node/n', 'Pod/a/b', 'Pod/a/c', 'pods:a/b'),
        severity: fc.constantFrom('error', 'warning', 'info'),
        message: fc.string(),
        cause,
        because: cause,
      },
      { requiredKeys: ['object', 'severity', 'message', 'cause'] },
    )
    .map((one) => problemSchema.parse(one));
  fc.assert(
    fc.property(fc.array(problem), (problems) => {
      const rooted = withRoots(problems);
      expect(rooted.map(({ because: _, ...one }) => one)).toEqual(problems.map(({ because: _, ...one }) => one));
      const causes = new Set(problems.map((one) => one.cause));
      expect(rooted.filter(({ because }) => because !== undefined && !causes.has(because))).toEqual([]);
    }),
  );
});
