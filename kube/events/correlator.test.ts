import { expect, it } from 'vitest';
import { createCorrelator } from './correlator.ts';
import type { EventInput } from './types.ts';

const MINUTE = 60_000;
const event = (message: string): EventInput => ({
  regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'red', name: 'web', uid: 'u1' },
  type: 'Warning',
  reason: 'ErrorAttachingPod',
  message,
});

/** Minutes between two writes at most, in a day of repetitions. */
const longestSilence = (everyMs: number, messages: readonly string[]): number => {
  const correlator = createCorrelator();
  let [last, longest] = [0, 0];
  for (let now = 0; now < 24 * 60 * MINUTE; now += everyMs) {
    for (const message of messages) {
      if (correlator.decide(event(message), now).kind === 'drop') continue;
      longest = Math.max(longest, now - last);
      last = now;
    }
  }
  return longest / MINUTE;
};

// API servers keep an Event for an hour after its last write (`--event-ttl`): `udnctl why` finds the cause in it.
it.each([
  ['each ADD of a kubelet with its shortest backoff', 10_000, ['no address']],
  ['an ADD that waits and fails, each minute', 70_000, ['waiting: no address', 'no address']],
  ['each ADD of a kubelet with its longest backoff', 5 * MINUTE, ['no address']],
])('keeps the Event of what goes on for a day: %s', (_, everyMs, messages) => {
  expect(longestSilence(everyMs, messages)).toBeLessThanOrEqual(10);
});
