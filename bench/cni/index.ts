/** CNI ADD against the floor. */
import type { PodAttachments } from '../../agent/model/attachments.ts';
import { alternate, takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import type { RenderedPod } from '../node/node-view.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median, percentile } from '../statistics.ts';
import type { CniNode } from './cni-node.ts';
import { ofRing } from './ring.ts';

const SINGLE_ROUNDS = 100;
const NETWORKS_ROUNDS = 30;
const BURST_ROUNDS = 5;
const BURST = 50;
const WARM_UP = 6;

export const benchCniDefault = (context: BenchContext): Promise<BenchResult[]> =>
  benchSingle('default', (node) => [node.plainPods, node.plainFloorPods], context);

export const benchCniPrimary = (context: BenchContext): Promise<BenchResult[]> =>
  benchSingle('primary', (node) => [node.tenantPods, node.tenantFloorPods], context);

type Pods = readonly [listed: readonly PodAttachments[], ofFloor: readonly RenderedPod[]];

/** The 50th and the 99th percentile of adding one pod at a time, against the floor and against the strict one. */
const benchSingle = async (
  kind: string,
  podsOf: (node: CniNode) => Pods,
  { signal, progress, smallNode, eachRun }: BenchContext,
): Promise<BenchResult[]> => {
  const node = await smallNode();
  const { rig } = node;
  const [listed, ofFloor] = podsOf(node);
  progress(`cni-add/${kind}: ${SINGLE_ROUNDS} pods each way`);
  const turns = {
    product: (round: number) => rig.measure('product', [ofRing(listed, 2 * round)]),
    floor: (round: number) => rig.measureFloor([ofRing(ofFloor, round)]),
    strict: (round: number) => rig.measure('strict', [ofRing(listed, 2 * round + 1)]),
  };
  return await eachRun(async (run) =>
    singleResults(kind, await takeTurns({ rounds: SINGLE_ROUNDS, run, warmUp: WARM_UP, signal }, turns)),
  );
};

type Ways = Readonly<Record<'product' | 'floor' | 'strict', readonly number[]>>;

const singleResults = (kind: string, samples: Ways): BenchResult[] => {
  const against = (name: string, references: readonly number[]): BenchResult[] =>
    [50, 99].map((percent) =>
      benchResult({
        name: `cni-add/${name}/p${percent}`,
        value: percentile(samples.product, percent),
        unit: 'ms',
        reference: percentile(references, percent),
        rounds: SINGLE_ROUNDS,
      }),
    );
  return [...against(kind, samples.floor), ...against(`${kind}-strict`, samples.strict)];
};

/** The median of adding a pod on a node that knows of many networks, against a node that knows of one. */
export const benchCniNetworks = (context: BenchContext): Promise<BenchResult[]> =>
  benchNetworks('cni-add/networks-1000', context.viewNode, context);

/** The same on a node that has a part of all these networks, and so OVN's rows and flows for them. */
export const benchCniNetworksOnNode = (context: BenchContext): Promise<BenchResult[]> =>
  benchNetworks('cni-add/networks-1000-on-node', context.largeNode, context);

const benchNetworks = async (
  name: string,
  nodeWithMany: () => Promise<CniNode>,
  context: BenchContext,
): Promise<BenchResult[]> => {
  const [small, large] = [await context.smallNode(), await nodeWithMany()];
  context.progress(`${name}: ${NETWORKS_ROUNDS} pods on each node`);
  return await context.eachRun(async (run) => {
    const { values, references } = await alternate(
      { rounds: NETWORKS_ROUNDS, run, warmUp: WARM_UP, signal: context.signal },
      (round) => large.rig.measure('product', [ofRing(large.tenantPods, round)]),
      (round) => small.rig.measure('product', [ofRing(small.tenantPods, round)]),
    );
    const [value, reference] = [median(values), median(references)];
    return [benchResult({ name, value, unit: 'ms', reference, rounds: NETWORKS_ROUNDS })];
  });
};

/** The time until the last of many pods that are added at once is there. */
export const benchCniBurst = async ({ signal, progress, smallNode, eachRun }: BenchContext): Promise<BenchResult[]> => {
  const { rig, plainPods, plainFloorPods } = await smallNode();
  const [listed, ofFloor] = [plainPods.slice(0, BURST), plainFloorPods.slice(0, BURST)];
  progress(`cni-add/burst-${BURST}: ${BURST_ROUNDS} times each way`);
  const turns = {
    product: () => rig.measure('product', listed),
    floor: () => rig.measureFloor(ofFloor),
    strict: () => rig.measure('strict', listed),
  };
  return await eachRun(async (run) =>
    burstResults(await takeTurns({ rounds: BURST_ROUNDS, run, warmUp: 1, signal }, turns)),
  );
};

const burstResults = (samples: Ways): BenchResult[] => {
  const against = (name: string, references: readonly number[]): BenchResult =>
    benchResult({
      name: `cni-add/${name}`,
      value: median(samples.product),
      unit: 'ms',
      reference: median(references),
      rounds: BURST_ROUNDS,
    });
  return [against(`burst-${BURST}`, samples.floor), against(`burst-${BURST}-strict`, samples.strict)];
};
