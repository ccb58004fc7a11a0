/** Whether the API server answers: the agent asks it all the time, so nothing is asked for this. */
import type { ComponentHealth } from './component.ts';

/** A server that is restarted is back before. */
const AWAY_MS = 5_000;

/** @param since when requests began to get no answer @param now both in milliseconds since the epoch */
export const apiHealth = (since: number | undefined, now: number): ComponentHealth =>
  since === undefined || now - since < AWAY_MS
    ? { component: 'api-server', state: 'working', message: '' }
    : {
        component: 'api-server',
        state: 'failed',
        message:
          'the API server does not answer: changes of the cluster do not reach this node, and new pods cannot be added',
      };
