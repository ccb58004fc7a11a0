import { describe, expect, it } from 'vitest';
import type { ObservedContainer } from './lifecycle.ts';
import { readPod } from './pod-spec.ts';
import { podStatus, type StatusInput } from './status.ts';

const NOW = Date.UTC(2030, 0, 2, 3, 4, 5, 678);
const EARLIER = '2029-01-01T00:00:00Z';
const record = { id: 'abc', attempt: 0, startedAt: NOW - 1000 };
const running: ObservedContainer = { name: 'c', record, state: { pid: 7 } };

const input = (overrides: Partial<StatusInput> = {}, status: object = {}): StatusInput => ({
  pod: readPod({
    metadata: { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '1' },
    spec: { containers: [{ name: 'c', image: 'img' }] },
    status,
  }),
  phase: 'Running',
  containers: [running],
  ready: new Set(['c']),
  hasSandbox: true,
  podAddresses: ['10.0.0.1', 'fd00::1'],
  nodeAddresses: ['172.20.0.11'],
  problem: undefined,
  now: NOW,
  ...overrides,
});
const conditions = (given: StatusInput) =>
  Object.fromEntries(podStatus(given).conditions.map(({ type, ...rest }) => [type, rest]));

it('of a pod that runs', () => {
  expect(podStatus(input())).toMatchObject({
    phase: 'Running',
    hostIP: '172.20.0.11',
    podIP: '10.0.0.1',
    podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
    startTime: '2030-01-02T03:04:05Z',
    containerStatuses: [
      {
        name: 'c',
        image: 'img',
        ready: true,
        started: true,
        restartCount: 0,
        containerID: 'toolbox://abc',
        state: { running: { startedAt: '2030-01-02T03:04:04Z' } },
        lastState: {},
      },
    ],
  });
  expect(conditions(input())).toEqual(
    Object.fromEntries(
      ['PodScheduled', 'PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'Ready'].map((type) => [
        type,
        { status: 'True', lastTransitionTime: '2030-01-02T03:04:05Z' },
      ]),
    ),
  );
});

describe('conditions', () => {
  it('keep the time of their last change', () => {
    const before = [
      { type: 'Ready', status: 'True', lastTransitionTime: EARLIER },
      { type: 'ContainersReady', status: 'False', lastTransitionTime: EARLIER },
    ];
    const now = conditions(input({}, { conditions: before }));
    expect(now['Ready']?.lastTransitionTime).toBe(EARLIER);
    expect(now['ContainersReady']?.lastTransitionTime).toBe('2030-01-02T03:04:05Z');
  });

  it('say which containers are not ready', () => {
    expect(conditions(input({ ready: new Set() }))['Ready']).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [c]',
    });
  });

  it('say why there is no sandbox', () => {
    const waiting: ObservedContainer = { name: 'c', record: undefined, state: {} };
    const given = input({
      phase: 'Pending',
      hasSandbox: false,
      containers: [waiting],
      podAddresses: [],
      problem: 'no net',
    });
    expect(conditions(given)['PodReadyToStartContainers']).toMatchObject({ status: 'False', message: 'no net' });
    expect(podStatus(given)).toMatchObject({
      podIP: null,
      podIPs: [],
      containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating', message: 'no net' } }, ready: false }],
    });
  });

  it('of a pod that is done', () => {
    const state = { exit: { started: true, code: 0, signal: 0, finishedAt: NOW } };
    const given = input({ phase: 'Succeeded', containers: [{ name: 'c', record, state }] });
    expect(conditions(given)['Ready']).toMatchObject({ status: 'False', reason: 'PodCompleted' });
  });
});

it.each([
  ['that ended well', { started: true, code: 0, signal: 0 }, { exitCode: 0, reason: 'Completed' }],
  ['that was killed', { started: true, code: 137, signal: 9 }, { exitCode: 137, signal: 9, reason: 'Error' }],
  ['that did not start', { started: false, code: 127, signal: 0 }, { exitCode: 127, reason: 'StartError' }],
])('a container %s', (_, exit, terminated) => {
  const state = { exit: { ...exit, finishedAt: NOW } };
  const status = podStatus(input({ containers: [{ name: 'c', record, state }] }));
  expect(status.containerStatuses).toMatchObject([{ state: { terminated }, ready: false }]);
});

it('a container that was started again reports how it ended before', () => {
  const previous = { id: 'old', code: 1, signal: 0, startedAt: NOW - 5000, finishedAt: NOW - 2000 };
  const observed: ObservedContainer = { ...running, record: { ...record, attempt: 3, previous } };
  expect(podStatus(input({ containers: [observed] })).containerStatuses).toMatchObject([
    { restartCount: 3, lastState: { terminated: { exitCode: 1, containerID: 'toolbox://old' } } },
  ]);
});
