/** What an agent that is starting waits for. */

import type { ClusterInputs } from '../inputs/cluster-inputs.ts';
import type { HealthSources } from './health.ts';

export interface StartSources {
  readonly inputs: Pick<ClusterInputs, 'unread'>;
  readonly connected: HealthSources['connected'];
}

/** A message each, without an end; never empty: an agent that is starting is not ready. */
export const reasonsNotStarted = ({ inputs, connected }: StartSources): readonly string[] => {
  const away = [...connected()]
    .filter(([, isConnected]) => !isConnected)
    .map(([name]) => `database ${name} is not connected`);
  const reasons = [...inputs.unread(), ...away];
  return reasons.length > 0 ? reasons : ['the agent is starting'];
};
