/** What network policies cost the agent and the database, OVN aside: a label, a start, a restart, a peer. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestServer } from '../../ovsdb/testing/server.ts';
import { alternate, takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { freshServer, loadRawMirrored, temporaryFolder, withServer } from '../render/northbound-server.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import type { Done } from './agent-process.ts';
import { clusterPod, type PolicyClusterSpec, policyObjects } from './objects.ts';
import { type PolicyAgent, startPolicyAgent, writeObjects } from './policy-agent.ts';

/** 2,000 policies and 5,000 pods; every namespace is named by as many policies as in the small one, with each number. */
const MANY: PolicyClusterSpec = { namespaces: 100, podsOfEach: 50, policiesOfEach: 20, localOfEach: 2 };
const FEW: PolicyClusterSpec = { namespaces: 10, podsOfEach: 5, policiesOfEach: 2, localOfEach: 2 };
const LABEL_ROUNDS = 50;
const LABEL_WARM_UP = 30;
const START_ROUNDS = 1;

export const LABEL_NAMES = ['policy/label-change-5000', 'policy/label-change-5000-bytes'] as const;

/** A pod of another node leaves five sets and enters five others. Bytes are those by which the database's file grows. */
export const benchLabelChange = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`policy/label-change-5000: ${LABEL_ROUNDS} labels in each cluster`);
  await using resources = new AsyncDisposableStack();
  const [few, many] = [await startCluster(FEW, resources), await startCluster(MANY, resources)];
  return await eachRun(async (run) => {
    const rounds = { rounds: LABEL_ROUNDS, run, warmUp: LABEL_WARM_UP, signal };
    const samples = await takeTurns<'many' | 'few', Step>(rounds, {
      many: (round) => relabel(many, round),
      few: (round) => relabel(few, round),
    });
    const result = (name: string, unit: string, part: keyof Step): BenchResult => {
      const [value, reference] = [samples.many, samples.few].map((steps) => median(steps.map((step) => step[part])));
      return benchResult({ name, value: value ?? 0, unit, reference: reference ?? 0, rounds: LABEL_ROUNDS });
    };
    const [time, bytes] = LABEL_NAMES;
    return [result(time, 'ms', 'ms'), result(bytes, 'bytes', 'bytes')];
  });
};

interface Cluster {
  readonly spec: PolicyClusterSpec;
  readonly agent: PolicyAgent;
  readonly server: TestServer;
}

interface Step {
  readonly ms: number;
  readonly bytes: number;
}

const startCluster = async (spec: PolicyClusterSpec, resources: AsyncDisposableStack): Promise<Cluster> => {
  const folder = await temporaryFolder(resources);
  const server = resources.use(await freshServer());
  const objects = await writeObjects(folder, 'objects', policyObjects(spec));
  const agent = resources.use(await startPolicyAgent({ objects, remote: server.remote }));
  return { spec, agent, server };
};

/** The next pod of another node, and back. @throws Error when a change writes nothing */
const relabel = async ({ spec, agent, server }: Cluster, round: number): Promise<Step> => {
  const namespace = round % spec.namespaces;
  const index = spec.localOfEach + (round % (spec.podsOfEach - spec.localOfEach));
  const other = (index + 1) % spec.policiesOfEach;
  const before = await sizeOf(server);
  const version = `${2 * round + 2}`;
  const { ms } = await agent.change({ put: [versioned(clusterPod(spec, namespace, index, other), version)] });
  const bytes = (await sizeOf(server)) - before;
  if (bytes === 0) throw new Error('a label that policies select by has changed, and nothing was written');
  await agent.change({ put: [versioned(clusterPod(spec, namespace, index), `${2 * round + 3}`)] });
  return { ms, bytes };
};

const versioned = (object: ReturnType<typeof clusterPod>, resourceVersion: string) => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
});

/** Of the database's file. It is written before the reply. */
const sizeOf = async ({ folder }: TestServer): Promise<number> => (await stat(join(folder, '0.db'))).size;

export const START_NAMES = ['policy/cold-2000', 'policy/restart-writes'] as const;

/** From the text of the API's objects to a reconciled database, against loading the same transactions; and once more on what is there. */
export const benchPoliciesStart = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`policy/cold-2000: ${START_ROUNDS} start in each run`);
  await using resources = new AsyncDisposableStack();
  const folder = await temporaryFolder(resources);
  const objects = await writeObjects(folder, 'objects', policyObjects(MANY));
  const recording = join(folder, 'recording.json');
  const start = async (server: TestServer, to?: string): Promise<Done> => {
    const spec = { objects, remote: server.remote, ...(to !== undefined && { recording: to }) };
    await using agent = await startPolicyAgent(spec);
    return agent.started;
  };
  const again = await withServer(async (server) => {
    const { transactions } = await start(server, recording);
    if (transactions === 0) throw new Error('a start on an empty database wrote nothing');
    return await start(server);
  });
  const [cold, restart] = START_NAMES;
  return await eachRun(async (run) => {
    const { values, references } = await alternate(
      { rounds: START_ROUNDS, run, signal },
      () => withServer(async (server) => (await start(server)).ms),
      () => withServer((server) => loadRawMirrored(recording, server)),
    );
    const [value, reference] = [median(values), median(references)];
    return [
      benchResult({ name: cold, value, unit: 'ms', reference, rounds: START_ROUNDS }),
      benchResult({ name: restart, value: again.transactions, unit: '', reference: 1, rounds: 1 }),
    ];
  });
};
