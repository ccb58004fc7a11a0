/** The agent between the API's objects and the northbound database: its facts, features, engine and reconciler as they are. */
import { createNorthboundReplica } from '../../agent/databases/northbound.ts';
import { createEngine, type Engine } from '../../agent/desired/engine.ts';
import { FEATURES } from '../../agent/features/index.ts';
import { BARE_OWNERS } from '../../agent/features/owner-order.ts';
import { type ClusterCaches, feedFacts } from '../../agent/inputs/fact-feeder.ts';
import { FactStore } from '../../agent/model/fact-store.ts';
import { OWNER_KEY } from '../../agent/model/ownership.ts';
import { MemorySinks } from '../../agent/render/memory-sinks.ts';
import { byName } from '../../ovsdb/desired/types.ts';
import { DesiredRows, OvsdbReconciler, OvsdbSession, parseRemotes } from '../../ovsdb/index.ts';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { recordingSession, type Sent } from './recording-session.ts';
import { SETTINGS } from './settings.ts';

export interface RenderAgent {
  readonly engine: Engine;
  readonly reconciler: OvsdbReconciler<OvnNorthbound>;
  /** Empty unless it is recorded. */
  readonly sent: Sent;
  stop(): Promise<void>;
}

export interface RenderAgentOptions {
  readonly caches: ClusterCaches;
  readonly remote: string;
  readonly isRecorded?: boolean;
}

/** Resolves when the database is as desired. @throws Error when it cannot be */
export const startRenderAgent = async ({
  caches,
  remote,
  isRecorded = false,
}: RenderAgentOptions): Promise<RenderAgent> => {
  const replica = createNorthboundReplica();
  const session = new OvsdbSession({ database: replica.database, remotes: parseRemotes(remote) });
  const { recorder, sent } = recordingSession(session);
  const desired = new DesiredRows<OvnNorthbound>(byName, BARE_OWNERS);
  const reconciler = new OvsdbReconciler({
    desired,
    replica,
    session: isRecorded ? recorder : session,
    ownerKey: OWNER_KEY,
  });
  session.mirror(replica);
  session.start();
  const facts = new FactStore();
  const sinks = new MemorySinks();
  const engine = createEngine({
    features: FEATURES,
    facts,
    settings: SETTINGS,
    sinks: { ...sinks, northbound: desired },
    schedule: (flush) => setImmediate(flush),
  });
  const feeder = feedFacts(facts, caches, SETTINGS);
  engine.start();
  engine.flush();
  reconciler.start();
  reconciler.allowPrune();
  await replica.whenSynced();
  await reconciler.whenIdle();
  const unfinished = reconciler.problems();
  if (unfinished.length > 0) throw new Error(`not reconciled: ${JSON.stringify(unfinished.slice(0, 3))}`);
  return {
    engine,
    reconciler,
    sent,
    stop: async () => {
      feeder.stop();
      engine.stop();
      await reconciler.stop();
      await session.close();
    },
  };
};
