import { describe, expect, it } from 'vitest';
import { type ContainerExit, decide, type ObservedContainer } from './lifecycle.ts';

const NOW = 1_000_000;
const exit = (code: number, finishedAt = NOW): ContainerExit => ({ started: true, code, signal: 0, finishedAt });
const container = (state: ObservedContainer['state'], attempt = 0, startedAt = NOW - 10): ObservedContainer => ({
  name: 'c',
  record: { id: 'i', attempt, startedAt },
  state,
});
const fresh: ObservedContainer = { name: 'new', record: undefined, state: {} };

describe('decide', () => {
  it.each([
    ['a container that was never started', 'Always', [fresh], { phase: 'Pending', start: ['new'], retryAt: undefined }],
    ['one that is being started', 'Always', [container({})], { phase: 'Pending', start: [], retryAt: undefined }],
    ['one that runs', 'Always', [container({ pid: 5 })], { phase: 'Running', start: [], retryAt: undefined }],
    [
      'the first restart is at once',
      'Always',
      [container({ exit: exit(0) })],
      { phase: 'Running', start: ['c'], retryAt: undefined },
    ],
    [
      'the second waits',
      'Always',
      [container({ exit: exit(1) }, 1)],
      { phase: 'Running', start: [], retryAt: NOW + 1000 },
    ],
    [
      'the fifth waits longer',
      'Always',
      [container({ exit: exit(1) }, 4)],
      { phase: 'Running', start: [], retryAt: NOW + 8000 },
    ],
    [
      'no longer than the maximum',
      'Always',
      [container({ exit: exit(1) }, 40)],
      { phase: 'Running', start: [], retryAt: NOW + 30_000 },
    ],
    [
      'a long run counts as healthy',
      'Always',
      [container({ exit: exit(1) }, 9, NOW - 60_000)],
      { phase: 'Running', start: ['c'], retryAt: undefined },
    ],
    [
      'a wait that is over',
      'Always',
      [container({ exit: exit(1, NOW - 1000) }, 1)],
      { phase: 'Running', start: ['c'], retryAt: undefined },
    ],
    [
      'OnFailure after success',
      'OnFailure',
      [container({ exit: exit(0) })],
      { phase: 'Succeeded', start: [], retryAt: undefined },
    ],
    [
      'OnFailure after failure',
      'OnFailure',
      [container({ exit: exit(1) })],
      { phase: 'Running', start: ['c'], retryAt: undefined },
    ],
    [
      'Never after failure',
      'Never',
      [container({ exit: exit(1) })],
      { phase: 'Failed', start: [], retryAt: undefined },
    ],
    [
      'Never, one of two still runs',
      'Never',
      [container({ exit: exit(1) }), container({ pid: 1 })],
      { phase: 'Running', start: [], retryAt: undefined },
    ],
    [
      'Never, both succeeded',
      'Never',
      [container({ exit: exit(0) }), container({ exit: exit(0) })],
      { phase: 'Succeeded', start: [], retryAt: undefined },
    ],
  ] as const)('%s', (_, policy, containers, expected) => {
    expect(decide(policy, containers, NOW)).toEqual(expected);
  });
});
