/** What the probes look at, put together. */

import type { DatabaseName } from './databases/database.ts';
import type { Databases } from './databases/databases.ts';
import type { GatewayKnowledge, HealthSources, PlaceName, PlaceQueue } from './health.ts';
import type { NodeKeeper } from './node/node-keeper.ts';
import { BACKEND_NAMES, type NodeDatapath } from './reconcile/node-datapath.ts';

const DATABASE_NAMES = ['northbound', 'southbound', 'openvswitch'] as const;

/** Before there is anything to look at: it is alive, and starts. */
export class Probes {
  alive: () => readonly string[] = () => [];
  ready: () => readonly string[] = () => ['the agent is starting'];
  /** Why Services may not be as they are wanted. */
  proxying: () => readonly string[] = () => ['the agent is starting'];
}

/** What is to be done, at all places. Call it when the reconcilers have been started. */
export const placeQueues = (
  databases: Databases,
  datapath: NodeDatapath,
  signal: AbortSignal,
): (() => ReadonlyMap<PlaceName, PlaceQueue>) => {
  const compared = new Set<DatabaseName>();
  for (const name of DATABASE_NAMES) {
    // Aborted only in the end, when nobody asks any more.
    databases[name].reconciler.whenIdle(signal).then(
      () => compared.add(name),
      () => undefined,
    );
  }
  return () =>
    new Map<PlaceName, PlaceQueue>([
      ...DATABASE_NAMES.map(
        (name) => [name, { ...databases[name].reconciler.queue(), hasCompared: compared.has(name) }] as const,
      ),
      ...BACKEND_NAMES.map((name) => [name, datapath[name].queue()] as const),
    ]);
};

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
