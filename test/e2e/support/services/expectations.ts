/** What clients of Services are to get. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import {
  type Attempt,
  ask,
  askFrom,
  type RunThere,
  type Target,
} from '../../../oracles/reachability/service-clients.ts';

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

/** Every target is answered by these, and by nobody else. One program asks all; what was not as it should be is asked again. */
export const expectAnswersAt = async (
  sandbox: Sandbox,
  client: Client,
  targets: readonly Target[],
  names: readonly string[],
): Promise<void> => {
  const desired = [...names].sort();
  let asked = targets;
  await eventually(async () => {
    const attempts = await askBy(sandbox, client, asked.flatMap(repeated));
    const found = asked.map((target, index) => {
      const own = attempts.slice(index * OFTEN, (index + 1) * OFTEN);
      return { target, answered: whoAnswered(own), others: own.filter(({ outcome }) => outcome !== 'answered') };
    });
    const wrong = found.filter(({ answered, others }) => others.length > 0 || !isDeepStrictEqual(answered, desired));
    asked = wrong.map(({ target }) => target);
    expect(wrong, `not answered by ${desired.join(' ')}`).toEqual([]);
  });
};

/** At once, at each target. */
export const expectRefusedAt = async (sandbox: Sandbox, client: Client, targets: readonly Target[]): Promise<void> => {
  await eventually(async () => {
    const attempts = await askBy(sandbox, client, targets);
    expect(outcomes(attempts), JSON.stringify(attempts)).toEqual(['refused']);
    for (const { seconds } of attempts) expect(seconds).toBeLessThan(1);
  });
};
