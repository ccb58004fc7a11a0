import { expect, it } from 'vitest';
import { apiHealth } from './api-health.ts';

it('fails when the API server has not answered, or not known the agent, for a while', () => {
  const health = (since?: number, unauthorizedSince?: number) => apiHealth({ since, unauthorizedSince }, 10_000);
  expect(health()).toEqual({ component: 'api-server', state: 'working', message: '' });
  expect(health(6_000, 6_000).state).toBe('working');
  expect(health(4_000).message).toMatch(/^the API server does not answer: changes/);
  expect(health(undefined, 4_000).message).toMatch(
    /rejects the credentials of the agent \(401 Unauthorized\): changes/,
  );
});
