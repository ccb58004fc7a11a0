/** CNI ADD of a pod with secondary attachments, against the floor that makes as many ports. */
import type { PodAttachments } from '../../agent/model/attachments.ts';
import { POD_ANNOTATIONS, UDN_API_VERSION } from '../../api/names.ts';
import { USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import type { RenderedPod } from '../node/node-view.ts';
import { type Made, pod, tenantName } from '../node/workload.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { makeAll, startCniNode } from './cni-node.ts';
import { floorPod } from './floor-pods.ts';
import { ofRing } from './ring.ts';

/** Secondary ones, of a layer-2 network each; beside them are those to the default and the primary network. */
const ATTACHMENTS = [1, 4, 16] as const;
const NETWORKS = Math.max(...ATTACHMENTS);
const PODS_OF_EACH = 5;
const ROUNDS = 9;
const WARM_UP = 2;

export const ATTACHMENTS_NAMES = ATTACHMENTS.map((count) => `cni-add/attachments-${count}`);

export const benchCniAttachments = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`cni-add/attachments: ${ROUNDS} pods each way with ${ATTACHMENTS.join(', ')} secondary attachments`);
  const name = `bench-attachments-${process.pid}`;
  const spec = { name, tenants: 1, tenantsElsewhere: 0, plainPods: 0, tenantPods: 0 };
  await using cni = await startCniNode(spec, signal);
  await makeAll(
    cni.node.client,
    upTo(NETWORKS).map((index) => [secondaryNetwork(index)]),
  );
  const waysOf = await Promise.all(
    ATTACHMENTS.map(async (count) => {
      const made = upTo(PODS_OF_EACH).map((index) => attachedPod(count, index));
      await makeAll(
        cni.node.client,
        made.map((one) => [one]),
      );
      const listed = await Promise.all(made.map(({ object }) => cni.rig.view.prepared(keyOf(object.metadata?.name))));
      for (const one of listed) requireAttachments(one, count);
      return { count, listed, ofFloor: listed.map((one) => cni.rig.view.rendered(floorPod(one.pod))) };
    }),
  );
  await cni.rig.view.settled();
  return await eachRun(async (run) => {
    const results: BenchResult[] = [];
    for (const { count, listed, ofFloor } of waysOf) {
      const { product, floor } = await takeTurns(
        { rounds: ROUNDS, run, warmUp: WARM_UP, signal },
        {
          product: (round) => cni.rig.measure('product', [ofRing<PodAttachments>(listed, round)]),
          floor: (round) => cni.rig.measureFloor([ofRing<RenderedPod>(ofFloor, round)]),
        },
      );
      const [value, reference] = [median(product), median(floor)];
      results.push(benchResult({ name: `cni-add/attachments-${count}`, value, unit: 'ms', reference, rounds: ROUNDS }));
    }
    return results;
  });
};

/** @throws Error when the pod does not have what is measured */
export const requireAttachments = ({ attachments }: PodAttachments, count: number): void => {
  const secondary = attachments.filter(({ role }) => role === 'secondary').length;
  if (secondary !== count) throw new Error(`${secondary} secondary attachments instead of ${count}`);
};

const networkName = (index: number): string => `storage-${index}`;

export const secondaryNetwork = (index: number): Made => ({
  resource: USER_DEFINED_NETWORKS,
  object: {
    apiVersion: UDN_API_VERSION,
    kind: 'UserDefinedNetwork',
    metadata: { name: networkName(index), namespace: tenantName(1) },
    spec: {
      topology: 'Layer2',
      layer2: { role: 'Secondary', subnets: [`10.30.${index}.0/24`, `fd00:30:0:${index}::/64`] },
    },
  },
});

export const attachedPod = (count: number, index: number): Made => {
  const { resource, object } = pod(tenantName(1), `with-${count}-${index}`);
  const networks = upTo(count).map(networkName).join(',');
  const metadata = { ...object.metadata, annotations: { [POD_ANNOTATIONS.selection]: networks } };
  return { resource, object: { ...object, metadata } };
};

const keyOf = (name: string | undefined): string => `${tenantName(1)}/${name}`;

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
