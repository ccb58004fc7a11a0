/** Whether the API server answers, and knows the agent: the agent asks it all the time, so nothing is asked for this. */
import type { Outage } from '../../kube/outage.ts';
import type { ComponentHealth } from './component.ts';

/** A server that is restarted is back before, and a token that was renewed has been read again. */
const AWAY_MS = 5_000;

/** @param now in milliseconds since the epoch */
export const apiHealth = (
  { since, unauthorizedSince }: Pick<Outage, 'since' | 'unauthorizedSince'>,
  now: number,
): ComponentHealth => {
  const lasts = (from: number | undefined): boolean => from !== undefined && now - from >= AWAY_MS;
  if (lasts(since)) return failed('the API server does not answer');
  // Watches that were opened before stay open, so that this alone would pass for health.
  if (lasts(unauthorizedSince)) return failed('the API server rejects the credentials of the agent (401 Unauthorized)');
  return { component: 'api-server', state: 'working', message: '' };
};

const failed = (cause: string): ComponentHealth => ({
  component: 'api-server',
  state: 'failed',
  message: `${cause}: changes of the cluster do not reach this node, and new pods cannot be added`,
});
