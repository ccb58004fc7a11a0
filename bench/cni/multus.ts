/**
 * CNI ADD of a pod with the default, a primary and two secondary networks: natively by one call of the shim, and by the real Multus, which
 * calls the shim for the default network and for each that the pod selects. On nodes of their own, both with a real API server.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MultiNetwork } from '../../agent/model/view.ts';
import { SERVICE_ACCOUNTS } from '../../kube/resources.ts';
import { multusConfiguration } from '../../sandbox/cni-plugins/multus-configuration.ts';
import { parseNetworkConf } from '../../sandbox/kubelet/cni/conf.ts';
import { attachmentEnvironment, pluginInput } from '../../sandbox/kubelet/cni/request.ts';
import { CNI_BIN, NODE_KUBECONFIG, OPT } from '../../sandbox/machine/node-root.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchNode, CNI_CONF_PATH, startBenchNode } from '../node/bench-node.ts';
import { openNodeView } from '../node/node-view.ts';
import { type Made, tenant, tenantName } from '../node/workload.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { type Run, Stopwatch } from '../stopwatch.ts';
import { attachedPod, requireAttachments, secondaryNetwork } from './attachments.ts';
import { makeAll } from './cni-node.ts';
import { ofRing } from './ring.ts';

const SECONDARY = 2;
const PODS = 5;
const ROUNDS = 15;
const WARM_UP = 2;

export const benchNativeVsMultus = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`cni-add/native-vs-multus: ${ROUNDS} pods each way with ${SECONDARY} secondary attachments`);
  await using resources = new AsyncDisposableStack();
  const native = resources.use(await startWay('native', signal));
  const delegated = resources.use(await startWay('delegated', signal));
  return await eachRun(async (run) => {
    const rounds = { rounds: ROUNDS, run, warmUp: WARM_UP, signal };
    const { values, references } = await alternate(rounds, native.add, delegated.add);
    const [value, reference] = [median(values), median(references)];
    return [benchResult({ name: 'cni-add/native-vs-multus', value, unit: 'ms', reference, rounds: ROUNDS })];
  });
};

interface Way extends AsyncDisposable {
  /** Adds the pod of the round and deletes it, which is not measured. @returns milliseconds */
  add(round: number): Promise<number>;
}

/** Resolves when its pods have their addresses and OVN has nothing left to do. */
const startWay = async (mode: MultiNetwork, signal: AbortSignal): Promise<Way> => {
  await using resources = new AsyncDisposableStack();
  const more = {
    ...{ api: 'kube' as const, settings: { UDN_MULTI_NETWORK: mode } },
    ...(mode === 'delegated' && { cniPlugins: ['multus' as const] }),
  };
  const node = resources.use(await startBenchNode(`bench-${mode}-${process.pid}`, signal, undefined, more));
  await makeAll(node.client, [[...tenant(1), account()]]);
  const networks = upTo(SECONDARY).map((index) => [secondaryNetwork(index)]);
  const made = upTo(PODS).map((index) => ofAccount(attachedPod(SECONDARY, index)));
  await makeAll(node.client, networks);
  await makeAll(
    node.client,
    made.map((one) => [one]),
  );
  const view = resources.use(await openNodeView(node));
  const pods = await Promise.all(
    made.map(({ object }) => view.prepared(`${tenantName(1)}/${object.metadata?.name ?? ''}`)),
  );
  for (const pod of pods) requireAttachments(pod, SECONDARY);
  await view.settled();
  // What a runtime does is done on the node: Multus reads and starts files of it.
  const stopwatch = resources.use(
    new Stopwatch(([, ...args]) => node.enter([`${OPT}/build/bench/stopwatch`, ...args])),
  );
  const call = await callOf(mode, node);
  const owner = resources.move();
  return {
    add: async (round) => {
      const pod = ofRing(pods, round);
      const containerId = randomBytes(32).toString('hex');
      const netns = `/run/netns/${containerId.slice(0, 12)}`;
      const attachment = { containerId, netns, ifName: 'eth0', pod: pod.pod };
      await node.run(['ip', 'netns', 'add', containerId.slice(0, 12)]);
      const { milliseconds, stdout } = await stopwatch.time({ ...call, env: attachmentEnvironment('ADD', attachment) });
      if (!stdout.includes('"ovn-udn1"')) throw new Error(`${mode}: no primary interface in ${stdout}`);
      await view.bound(pod, true);
      await stopwatch.time({ ...call, env: attachmentEnvironment('DEL', attachment) });
      await node.run(['ip', 'netns', 'del', containerId.slice(0, 12)]);
      await view.bound(pod, false);
      await view.settled();
      return milliseconds;
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
};

/** The program that the runtime starts, and what it gets. */
const callOf = async (mode: MultiNetwork, node: BenchNode): Promise<Omit<Run, 'env'>> => {
  const network = parseNetworkConf(await node.run(['cat', CNI_CONF_PATH]), CNI_CONF_PATH);
  const own = network.plugins.map((plugin) => pluginInput(network, plugin)).join('');
  const stdin = '/etc/ovn-udn/bench.conf';
  await writeFile(
    node.pathOf(stdin),
    mode === 'native' ? own : JSON.stringify(multusConfiguration(NODE_KUBECONFIG, { cniVersion: network.cniVersion })),
  );
  return { file: join(CNI_BIN, mode === 'native' ? 'ovn-k8s-cni-overlay' : 'multus'), stdin };
};

/** A real API server admits pods of accounts that are there; those of namespaces come later than these. */
const ACCOUNT = 'bench';

const account = (): Made => ({
  resource: SERVICE_ACCOUNTS,
  object: { metadata: { namespace: tenantName(1), name: ACCOUNT } },
});

const ofAccount = ({ resource, object }: Made): Made => ({
  resource,
  object: { ...object, spec: { ...(object['spec'] as object), serviceAccountName: ACCOUNT } },
});

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
