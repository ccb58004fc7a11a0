import { expect, it } from 'vitest';
import type { LogLevelChange, LogLevelStatus } from '../../api/agent-status.ts';
import { logLevel } from './log-level.ts';

const agentOf = (status: LogLevelStatus) => {
  const changes: LogLevelChange[] = [];
  return {
    changes,
    logLevel: async () => status,
    setLogLevel: async (change: LogLevelChange) => {
      changes.push(change);
      return { ...status, level: change.level };
    },
  };
};

it.each([
  [{ level: 'info', configured: 'info' }, 'info, as configured'],
  [{ level: 'debug', configured: 'info' }, 'debug until it is set again or the agent restarts; configured: info'],
  [
    { level: 'debug', configured: 'info', revertsAt: '2026-01-01T00:10:00.000Z' },
    'debug until 2026-01-01T00:10:00.000Z; configured: info',
  ],
])('%j is shown as: %s', async (status, line) => {
  const agent = agentOf(status);
  expect(await logLevel(agent, undefined, {})).toEqual({ data: status, lines: [line] });
  expect(agent.changes).toEqual([]);
});

it('sets a level, for a duration, and says who asks', async () => {
  const agent = agentOf({ level: 'info', configured: 'info' });
  await logLevel(agent, 'debug', { for: '1m30s' });
  await logLevel(agent, 'warn', {});
  expect(agent.changes).toEqual([
    { level: 'debug', forSeconds: 90, by: expect.stringMatching(/^udnctl, user ./) },
    { level: 'warn', by: expect.stringMatching(/^udnctl, user ./) },
  ]);
});

it.each([
  ['debug', 'soon', /--for is a duration of up to 24h, for example 10m, not "soon"/],
  ['debug', '0', /--for is a duration/],
  ['debug', '25h', /--for is a duration/],
  [undefined, '10m', /--for needs a level to set/],
] as const)('%s for %s is refused before the agent is asked', async (level, duration, message) => {
  const agent = agentOf({ level: 'info', configured: 'info' });
  await expect(logLevel(agent, level, { for: duration })).rejects.toMatchObject({
    exitStatus: 2,
    message: expect.stringMatching(message),
  });
  expect(agent.changes).toEqual([]);
});
