/** Programs are killed at random, under UDP, TCP, and pods and networks that come and go: what that costs, by kind of kill. */
import type { Sandbox } from '../../../../sandbox/index.ts';
import { applyAndWait, readPod } from '../cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from '../cluster/manifests.ts';
import type { Random } from '../faults/random.ts';
import { outside } from '../networks/north-south.ts';
import { addressOfFamily } from '../packets/packets.ts';
import { churn } from './churn.ts';
import { watchCrowding } from './crowding.ts';
import { KINDS, killOne, kindsInAnyOrder } from './kills.ts';
import { type Kill, type Row, storyOf, tally } from './losses.ts';
import { type BrokenConnection, type Path, startStreams } from './streams.ts';

export const NODES = ['node-1', 'node-2'] as const;
const OUTSIDE = 'outside';
const NAMESPACES = ['red', 'green', 'plain'];

export interface CampaignOptions {
  readonly random: Random;
  /** Not shorter than it takes to kill everything once. */
  readonly seconds: number;
  /** Between two kills: so much at least, and up to twice as much. */
  readonly pauseMs: number;
}

export interface CampaignResult {
  /** What happened when, for people. */
  readonly story: readonly string[];
  readonly rows: readonly Row[];
  /** TCP connections that did not last. */
  readonly broken: readonly BrokenConnection[];
  readonly connections: number;
  /** How busy the machine was (`watchCrowding`). */
  readonly crowding: number;
}

/** A network of each kind, with two pods on the first node and one on the second: they stay. */
export const prepareCampaign = (sandbox: Sandbox): Promise<void> =>
  applyAndWait(sandbox, [
    namespace('red'),
    layer3('red', 'net', ['10.60.0.0/16/24', 'fd00:60::/48/64']),
    namespace('green'),
    layer2('green', 'net', ['10.61.0.0/16', 'fd00:61::/64']),
    plainNamespace('plain'),
    ...NAMESPACES.flatMap((name) => [
      pod(name, `${name}-a`, 'node-1'),
      pod(name, `${name}-b`, 'node-1'),
      pod(name, `${name}-c`, 'node-2'),
    ]),
  ]);

export const runCampaign = async (sandbox: Sandbox, options: CampaignOptions): Promise<CampaignResult> => {
  const { random } = options;
  const paths = await pathsOf(sandbox);
  const streams = await startStreams(sandbox, paths);
  const crowd = watchCrowding();
  const end = new AbortController();
  const comingAndGoing = churn({
    ...{ objects: await sandbox.objects(), nodes: NODES, namespaces: NAMESPACES, random, signal: end.signal },
  });
  const settled = Promise.allSettled([comingAndGoing]);
  let kills: readonly Kill[] = [];
  try {
    kills = await killAtRandom(sandbox, options);
  } finally {
    end.abort();
    await settled;
  }
  const crowding = crowd.stop();
  const { datagrams, broken } = await streams.stop();
  const rows = tally([...KINDS.keys()], kills, datagrams, await comingAndGoing);
  return { story: storyOf(kills, datagrams), rows, broken, connections: paths.length, crowding };
};

const killAtRandom = async (
  sandbox: Sandbox,
  { random, seconds, pauseMs }: CampaignOptions,
): Promise<readonly Kill[]> => {
  const kinds = kindsInAnyOrder(random);
  const kills: Kill[] = [];
  const deadline = Date.now() + 1000 * seconds;
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMs * (1 + random.next())));
  await pause();
  while (kills.length < KINDS.size || Date.now() < deadline) {
    kills.push(await killOne(sandbox, { kind: kinds.next().value, nodes: NODES, random }));
    await pause();
  }
  return kills;
};

/** On a node, between nodes and to the outside; both families. */
const pathsOf = async (sandbox: Sandbox): Promise<Path[]> => {
  const paths: Path[] = [];
  const add = (from: string, to: string, address: string): void => {
    const name = `${from} → ${to} (${address})`;
    paths.push({ from: `${from.split('-')[0]}/${from}`, name, to: address, isTranslated: to === OUTSIDE });
  };
  for (const name of NAMESPACES) {
    const [near, far] = await Promise.all(['b', 'c'].map((letter) => readPod(sandbox, `${name}/${name}-${letter}`)));
    if (near === undefined || far === undefined) throw new Error(`${name} has no pods`);
    add(`${name}-a`, `${name}-b`, addressOfFamily(near, 6));
    add(`${name}-a`, `${name}-c`, addressOfFamily(far, 4));
    add(`${name}-a`, OUTSIDE, outside(4));
    add(`${name}-c`, OUTSIDE, outside(6));
  }
  return paths;
};
