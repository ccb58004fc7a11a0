/** What the probes look at, put together. */
import type { Databases } from '../databases/databases.ts';
import type { NodeKeeper } from '../node/node-keeper.ts';
import { DATABASE_NAMES } from '../reconcile/reconcilers.ts';
import type { GatewayKnowledge, HealthSources } from './health.ts';

/** Before there is anything to look at: it is alive, and starts. */
export class Probes {
  alive: () => readonly string[] = () => [];
  ready: () => readonly string[] = () => ['the agent is starting'];
  /** Why Services may not be as desired. */
  proxying: () => readonly string[] = () => ['the agent is starting'];
}

export const connectedDatabases = (databases: Databases): HealthSources['connected'] => {
  return () => new Map(DATABASE_NAMES.map((name) => [name, databases[name].session.state.kind === 'connected']));
};

export const gatewayKnowledge = ({
  identity,
  isGatewaySeen,
}: Pick<NodeKeeper, 'identity' | 'isGatewaySeen'>): GatewayKnowledge => {
  if (isGatewaySeen) return 'seen';
  return identity.gateway === undefined ? 'unknown' : 'remembered';
};
