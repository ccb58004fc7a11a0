/** CNI ADD against the floor. */
import type { PodAttachments } from '../../agent/model/attachments.ts';
import { alternate, takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import type { RenderedPod } from '../node/node-view.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median, percentile } from '../statistics.ts';
import type { CniNode } from './cni-node.ts';

const SINGLE_RUNS = 100;
const NETWORKS_RUNS = 60;
const BURST_RUNS = 7;
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
  { signal, progress, smallNode }: BenchContext,
): Promise<BenchResult[]> => {
  const node = await smallNode();
  const { rig } = node;
  const [listed, ofFloor] = podsOf(node);
  progress(`cni-add/${kind}: ${SINGLE_RUNS} pods each way`);
  const samples = await takeTurns(
    { runs: SINGLE_RUNS, warmUp: WARM_UP, signal },
    {
      product: (round) => rig.measure('product', [ofRing(listed, 2 * round)]),
      floor: (round) => rig.measureFloor([ofRing(ofFloor, round)]),
      strict: (round) => rig.measure('strict', [ofRing(listed, 2 * round + 1)]),
    },
  );
  const against = (name: string, references: readonly number[]): BenchResult[] =>
    [50, 99].map((percent) =>
      benchResult({
        name: `cni-add/${name}/p${percent}`,
        value: percentile(samples.product, percent),
        unit: 'ms',
        reference: percentile(references, percent),
        runs: SINGLE_RUNS,
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
  context.progress(`${name}: ${NETWORKS_RUNS} pods on each node`);
  const { values, references } = await alternate(
    { runs: NETWORKS_RUNS, warmUp: WARM_UP, signal: context.signal },
    (round) => large.rig.measure('product', [ofRing(large.tenantPods, round)]),
    (round) => small.rig.measure('product', [ofRing(small.tenantPods, round)]),
  );
  const [value, reference] = [median(values), median(references)];
  return [benchResult({ name, value, unit: 'ms', reference, runs: NETWORKS_RUNS })];
};

/** The time until the last of many pods that are added at once is there. */
export const benchCniBurst = async ({ signal, progress, smallNode }: BenchContext): Promise<BenchResult[]> => {
  const { rig, plainPods, plainFloorPods } = await smallNode();
  const [listed, ofFloor] = [plainPods.slice(0, BURST), plainFloorPods.slice(0, BURST)];
  progress(`cni-add/burst-${BURST}: ${BURST_RUNS} times each way`);
  const samples = await takeTurns(
    { runs: BURST_RUNS, warmUp: 1, signal },
    {
      product: () => rig.measure('product', listed),
      floor: () => rig.measureFloor(ofFloor),
      strict: () => rig.measure('strict', listed),
    },
  );
  const against = (name: string, references: readonly number[]): BenchResult =>
    benchResult({
      name: `cni-add/${name}`,
      value: median(samples.product),
      unit: 'ms',
      reference: median(references),
      runs: BURST_RUNS,
    });
  return [against(`burst-${BURST}`, samples.floor), against(`burst-${BURST}-strict`, samples.strict)];
};

/** So that none is used again before the node has forgotten it. */
const ofRing = <Pod>(pods: readonly Pod[], index: number): Pod => {
  const pod = pods[index % pods.length];
  if (pod === undefined) throw new RangeError('no pods');
  return pod;
};
