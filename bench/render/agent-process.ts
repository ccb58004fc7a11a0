/**
 * The agent between the API's objects and the northbound database, as a process of its own: its inputs, facts, features,
 * engine and reconciler as they are, with the objects from a file.
 *
 *   agent-process.ts FILE REMOTE [RECORDING]
 *
 * Prints the milliseconds from the objects' text to a reconciled database. Then, for every line "NAME COUNT" on stdin, lets
 * a pod of the first tenant come and go COUNT times, each until the database has it, and prints the microseconds of this
 * process' processor time that each of these events took. With RECORDING it writes what it has sent instead, and ends.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createNorthboundReplica } from '../../agent/databases/northbound.ts';
import { createEngine } from '../../agent/desired/engine.ts';
import { FEATURES } from '../../agent/features/index.ts';
import { feedFacts } from '../../agent/inputs/fact-feeder.ts';
import { projectNad } from '../../agent/inputs/nad-projection.ts';
import { projectNamespace } from '../../agent/inputs/namespace-projection.ts';
import { projectNode } from '../../agent/inputs/node-projection.ts';
import { projectPod } from '../../agent/inputs/pod-projection.ts';
import { SLICE_INDEXES, type SliceProjection } from '../../agent/inputs/slice-projection.ts';
import { FactStore } from '../../agent/model/fact-store.ts';
import type { ServiceFact } from '../../agent/model/facts.ts';
import { OWNER_KEY } from '../../agent/model/ownership.ts';
import { MemorySinks } from '../../agent/render/memory-sinks.ts';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import type { KubeObject } from '../../kube/types.ts';
import { DesiredRows, OvsdbReconciler, OvsdbSession, parseRemotes } from '../../ovsdb/index.ts';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { LOCAL_NODE, podObject } from './objects.ts';
import { recordingSession } from './recording-session.ts';

const main = async ([file = '', remote = '', recording]: readonly string[]): Promise<void> => {
  const text = readFileSync(file, 'utf8');
  const start = performance.now();
  const agent = await startAgent(JSON.parse(text) as KubeObject[], remote, recording !== undefined);
  console.log(performance.now() - start);
  if (recording !== undefined) writeFileSync(recording, JSON.stringify(agent.sent));
  else for await (const line of createInterface(process.stdin)) console.log(await agent.events(Number(line)));
  await agent.stop();
};

const startAgent = async (objects: readonly KubeObject[], remote: string, isRecorded: boolean) => {
  const read = <T>(kind: string, project: (object: KubeObject) => T | undefined) =>
    createStaticCache(
      objects
        .filter((object) => object.kind === kind)
        .flatMap((object): [string, T][] => {
          const { namespace, name } = object.metadata;
          const projection = project(object);
          return projection === undefined
            ? []
            : [[namespace === undefined ? name : `${namespace}/${name}`, projection]];
        }),
    );
  const replica = createNorthboundReplica();
  const session = new OvsdbSession({ database: replica.database, remotes: parseRemotes(remote) });
  const { recorder, sent } = recordingSession(session);
  const desired = new DesiredRows<OvnNorthbound>();
  const reconciler = new OvsdbReconciler({
    desired,
    replica,
    session: isRecorded ? recorder : session,
    ownerKey: OWNER_KEY,
  });
  session.mirror(replica);
  session.start();
  const facts = new FactStore();
  const pods = read('Pod', (object) => projectPod(object, LOCAL_NODE));
  const settings = {
    node: LOCAL_NODE,
    cluster: parseClusterConfig(),
    encapIps: [],
    southboundRemote: '',
    networkRendering: 'always' as const,
    allowedDefaultServices: [],
  };
  const sinks = new MemorySinks();
  const engine = createEngine({
    features: FEATURES,
    facts,
    settings,
    sinks: { ...sinks, northbound: desired },
    schedule: (flush) => setImmediate(flush),
  });
  const caches = {
    nodes: read('Node', projectNode),
    namespaces: read('Namespace', projectNamespace),
    nads: read('NetworkAttachmentDefinition', projectNad),
    pods,
    services: createStaticCache<ServiceFact>(),
    slices: createStaticCache<SliceProjection, 'service'>([], SLICE_INDEXES),
  };
  const problems = [caches.nodes, caches.pods].flatMap((cache) => [...cache.values()].flatMap((one) => one.problems));
  if (problems.length > 0) throw new Error(`objects that cannot be read: ${JSON.stringify(problems.slice(0, 3))}`);
  feedFacts(facts, caches, settings);
  engine.start();
  engine.flush();
  reconciler.start();
  reconciler.allowPrune();
  await replica.whenSynced();
  await reconciler.whenIdle();
  const unfinished = [...reconciler.unfinished()];
  if (unfinished.length > 0) throw new Error(`not reconciled: ${JSON.stringify(unfinished.slice(0, 3))}`);

  let count = 0;
  const change = async (wanted: boolean): Promise<void> => {
    // Each has a name of its own, as pods have.
    if (wanted) count += 1;
    const object = podObject(1, 199, `new-${count}`);
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    const projection = wanted ? projectPod(object, LOCAL_NODE) : undefined;
    if (projection === undefined) pods.remove(key);
    else pods.set(key, projection);
    engine.flush();
    await reconciler.whenDone(`pods:${key}`);
  };
  return {
    sent,
    /** @returns microseconds of each */
    events: async (number: number): Promise<number> => {
      const before = process.cpuUsage();
      for (let i = 0; i < number; i++) await change(i % 2 === 0);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / number;
    },
    stop: async (): Promise<void> => {
      engine.stop();
      await reconciler.stop();
      await session.close();
    },
  };
};

await main(process.argv.slice(2));
