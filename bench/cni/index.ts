/** CNI ADD against the floor. */
import type { PodAttachments } from '../../agent/model/attachments.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median, percentile } from '../statistics.ts';
import type { CniNode } from './cni-node.ts';

const SINGLE_RUNS = 150;
const NETWORKS_RUNS = 60;
const BURST_RUNS = 7;
const BURST = 50;
const WARM_UP = 6;

export const benchCniDefault = (context: BenchContext): Promise<BenchResult[]> =>
  benchSingle('default', ({ plainPods }) => plainPods, context);

export const benchCniPrimary = (context: BenchContext): Promise<BenchResult[]> =>
  benchSingle('primary', ({ tenantPods }) => tenantPods, context);

/** The 50th and the 99th percentile of adding one pod at a time. */
const benchSingle = async (
  kind: string,
  podsOf: (node: CniNode) => readonly PodAttachments[],
  { signal, progress, smallNode }: BenchContext,
): Promise<BenchResult[]> => {
  const node = await smallNode();
  const pods = podsOf(node);
  progress(`cni-add/${kind}: ${SINGLE_RUNS} pods each way`);
  const { values, references } = await alternate(
    { runs: SINGLE_RUNS, warmUp: WARM_UP, signal },
    (round) => node.rig.measure('product', [ofRing(pods, 2 * round)]),
    (round) => node.rig.measure('floor', [ofRing(pods, 2 * round + 1)]),
  );
  return [50, 99].map((percent) =>
    benchResult({
      name: `cni-add/${kind}/p${percent}`,
      value: percentile(values, percent),
      unit: 'ms',
      reference: percentile(references, percent),
      runs: SINGLE_RUNS,
    }),
  );
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
  const { rig, plainPods } = await smallNode();
  const pods = plainPods.slice(0, BURST);
  progress(`cni-add/burst-${BURST}: ${BURST_RUNS} times each way`);
  const { values, references } = await alternate(
    { runs: BURST_RUNS, warmUp: 1, signal },
    () => rig.measure('product', pods),
    () => rig.measure('floor', pods),
  );
  const [value, reference] = [median(values), median(references)];
  return [benchResult({ name: `cni-add/burst-${BURST}`, value, unit: 'ms', reference, runs: BURST_RUNS })];
};

/** So that none is used again before the node has forgotten it. */
const ofRing = (pods: readonly PodAttachments[], index: number): PodAttachments => {
  const pod = pods[index % pods.length];
  if (pod === undefined) throw new RangeError('no pods');
  return pod;
};
