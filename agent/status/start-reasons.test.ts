import { expect, it } from 'vitest';
import { reasonsNotStarted } from './start-reasons.ts';

const connected = (isConnected: boolean) => () => new Map([['northbound', isConnected] as const]) as never;

it('an agent that is starting says what it waits for', () => {
  const unread = ['nodes are not synced from the API server yet: ECONNREFUSED'];
  expect(reasonsNotStarted({ inputs: { unread: () => unread }, connected: connected(false) })).toEqual([
    ...unread,
    'database northbound is not connected',
  ]);
  expect(reasonsNotStarted({ inputs: { unread: () => [] }, connected: connected(true) })).toEqual([
    'the agent is starting',
  ]);
});
