/** What clients of Services are to get. */
import { expect } from 'vitest';
import type { Sandbox } from '../../../sandbox/index.ts';
import {
  type Attempt,
  ask,
  askFrom,
  type RunThere,
  type Target,
} from '../../../sandbox/reachability/service-clients.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';

/** As often as it takes for each of two endpoints to get one, but for one in a million times. */
const OFTEN = 20;

/** `namespace/name` of a pod, or whoever runs commands elsewhere. */
type Client = string | RunThere;

const askBy = (sandbox: Sandbox, client: Client, targets: readonly Target[]): Promise<Attempt[]> =>
  typeof client === 'string' ? ask(sandbox, client, targets) : askFrom(client, targets);

export const repeated = (target: Target): Target[] => Array.from({ length: OFTEN }, () => target);
export const outcomes = (attempts: readonly Attempt[]): string[] => [
  ...new Set(attempts.map(({ outcome }) => outcome)),
];
export const whoAnswered = (attempts: readonly Attempt[]): string[] =>
  [...new Set(attempts.filter(({ outcome }) => outcome === 'answered').map(({ text }) => text))].sort();

/** Every target is answered by these, and by nobody else. */
export const expectAnswersAt = async (
  sandbox: Sandbox,
  client: Client,
  targets: readonly Target[],
  names: readonly string[],
): Promise<void> => {
  for (const target of targets) {
    await eventually(async () => {
      const attempts = await askBy(sandbox, client, repeated(target));
      expect(
        attempts.filter(({ outcome }) => outcome !== 'answered'),
        JSON.stringify(target),
      ).toEqual([]);
      expect(whoAnswered(attempts), JSON.stringify(target)).toEqual([...names].sort());
    });
  }
};

/** At once, at each target. */
export const expectRefusedAt = async (sandbox: Sandbox, client: Client, targets: readonly Target[]): Promise<void> => {
  await eventually(async () => {
    const attempts = await askBy(sandbox, client, targets);
    expect(outcomes(attempts), JSON.stringify(attempts)).toEqual(['refused']);
    for (const { seconds } of attempts) expect(seconds).toBeLessThan(1);
  });
};
