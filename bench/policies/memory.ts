/** What the agent holds for each pod of another node: all of its projection, index, fragment, desired rows and mirror of the database. */
import type { KubeObject } from '../../kube/types.ts';
import type { BenchContext } from '../context.ts';
import { freshServer, temporaryFolder } from '../render/northbound-server.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { indexes, namespaceObject, nodes, podObject, policyObject } from './objects.ts';
import { startPolicyAgent, writeObjects } from './policy-agent.ts';

const PEERS = 20_000;
const BATCH = 1000;
const WARM_UP = 5000;

export const MEMORY_NAMES = ['policy/rss-peer', 'policy/rss-pod'] as const;

/** Of a pod that is in one set, with one address; and of one that no policy is about. */
export const benchPeerMemory = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`policy/rss-peer: ${PEERS} pods of another node with and without a policy`);
  const [peer, pod] = MEMORY_NAMES;
  const result = (name: string, value: number): BenchResult =>
    benchResult({ name, value, unit: 'bytes', reference: 1, rounds: 1 });
  return await eachRun(async () => [
    result(peer, await bytesPerPod(true, signal)),
    result(pod, await bytesPerPod(false, signal)),
  ]);
};

const bytesPerPod = async (hasPolicy: boolean, signal: AbortSignal): Promise<number> => {
  await using resources = new AsyncDisposableStack();
  const folder = await temporaryFolder(resources);
  const server = resources.use(await freshServer());
  const target = podObject({ namespace: 'a', name: 'target', number: 0, isLocal: true, labels: {} });
  const objects = [...nodes(), namespaceObject('a'), target, peerObject(0), ...(hasPolicy ? [POLICY] : [])];
  const path = await writeObjects(folder, 'objects', objects);
  const agent = resources.use(await startPolicyAgent({ objects: path, remote: server.remote }));
  const pods = (first: number) => indexes(BATCH).map((index) => peerObject(first + index));
  // Code that is compiled with the first pods is not theirs.
  for (let first = 1; first <= WARM_UP; first += BATCH) {
    await agent.change({ put: pods(first) });
    await agent.change({ remove: pods(first) });
  }
  const { heap: before } = await agent.change({ heap: true });
  for (let first = 1; first <= PEERS; first += BATCH) {
    signal.throwIfAborted();
    await agent.change({ put: pods(first) });
  }
  const { heap: after } = await agent.change({ heap: true });
  return (after - before) / PEERS;
};

/** Names as a Deployment gives them, a label as it has for each revision, and a version of its own. */
const peerObject = (number: number): KubeObject => {
  const pod = podObject({
    namespace: 'a',
    name: `web-7d9c5b6f4d-${number.toString(36).padStart(5, '0')}`,
    number,
    isLocal: false,
    labels: { app: 'web', 'pod-template-hash': '7d9c5b6f4d' },
  });
  return { ...pod, metadata: { ...pod.metadata, resourceVersion: String(FIRST_VERSION + number) } };
};

/** As long as those of a cluster that has run for a while. */
const FIRST_VERSION = 123_000_000;

const POLICY = policyObject('a', 'web', {
  podSelector: {},
  policyTypes: ['Ingress'],
  ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }], ports: [{ port: 80 }] }],
});
