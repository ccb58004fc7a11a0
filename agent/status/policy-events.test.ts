import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { Problem } from '../inputs/problem.ts';
import { PolicyEvents } from './policy-events.ts';

const problem = (message: string, rest: Partial<Problem> = {}): Problem => ({
  object: 'NetworkPolicy/red/web',
  message,
  ...rest,
});

it('reports what stays for some seconds, once, and again when it was away', async () => {
  const clock = createFakeClock();
  const told: unknown[] = [];
  let problems: Problem[] = [];
  const events = new PolicyEvents({
    problems: () => problems,
    uidOf: (key, kind) => `uid of ${kind} ${key}`,
    emit: (...event) => told.push(event),
    clock,
  });
  const settle = async (...now: Problem[]): Promise<void> => {
    problems = now;
    events.changed();
    events.changed();
    expect(clock.pending).toBe(1);
    await clock.advance(5_000);
  };
  const unreadable = problem('spec: no', { cause: 'object-unreadable' });
  await settle(problem('no pod has a port http'), unreadable, problem('not of a policy', { object: 'Namespace/red' }));
  await settle(problem('no pod has a port http'));
  const event = [
    { kind: 'NetworkPolicy', namespace: 'red', name: 'web', uid: 'uid of NetworkPolicy red/web' },
    'PolicyNotFollowed',
    'no pod has a port http',
  ];
  expect(told).toEqual([event]);
  await settle(problem('no room', { object: 'EgressFirewall/red/default' }), problem('a', { object: 'Kind/red/b' }));
  expect(told.splice(1)).toMatchObject([
    [{ kind: 'EgressFirewall', namespace: 'red' }, 'PolicyNotFollowed', 'no room'],
  ]);
  await settle(problem('no pod has a port http'));
  expect(told).toEqual([event, event]);
  events.changed();
  events.stop();
  expect(clock.pending).toBe(0);
});
