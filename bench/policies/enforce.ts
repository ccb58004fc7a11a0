/** How long a policy takes to drop packets, from the API server to the pod. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { podPortName } from '../../agent/model/names.ts';
import { startEmbeddedServer } from '../../kube/embedded/server.ts';
import { NAMESPACES, NETWORK_POLICIES, NODES, PODS } from '../../kube/resources.ts';
import type { KubeClient, KubeObject, ObjectInput, ResourceType } from '../../kube/types.ts';
import { formatRemote } from '../../ovsdb/index.ts';
import { OPT } from '../../sandbox/machine/node-root.ts';
import type { BenchContext } from '../context.ts';
import { LineProcess } from '../line-process.ts';
import { nativeProgram } from '../native.ts';
import { connectController, northboundOf } from '../node/connect-controller.ts';
import { type OvnNode, startOvnNode } from '../node/ovn-node.ts';
import { nodeProcess, temporaryFolder } from '../render/northbound-server.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { percentile } from '../statistics.ts';
import { indexes, namespaceObject, nodes, podAddress, podObject, policyObject } from './objects.ts';
import { addPorts, type Port } from './ovn-cluster.ts';

const POLICIES = 200;
const PER_SECOND = 100;
const INTERVAL_MS = 10;

export const ENFORCE_NAMES = ['policy/enforce-p99', 'policy/enforce-p50'] as const;

/** Each isolates a pod of its own, and lets in at a port of its own pods that do not exist. Packets are sent to all these pods meanwhile. */
export const benchEnforce = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`policy/enforce-p99: ${PER_SECOND} policies per second, ${POLICIES} in each run`);
  await using resources = new AsyncDisposableStack();
  const node = resources.use(await startOvnNode(`bench-enforce-${process.pid}`, signal));
  await connectController(node);
  const { client, ports } = await startAgent(node, resources);
  await addPorts(node, ports);
  await node.run(['sh', '-c', 'cd /sys/class/net && for link in bench*; do ip link set "$link" up; done']);
  return await eachRun(async () => {
    const samples = await isolateAll(node, client, signal);
    const result = (name: string, percent: number): BenchResult =>
      benchResult({ name, value: percentile(samples, percent), unit: 'ms', reference: 1, rounds: POLICIES });
    const [p99, p50] = ENFORCE_NAMES;
    return [result(p99, 99), result(p50, 50)];
  });
};

const NAMESPACE = 'app';
const podName = (index: number): string => `pod-${index}`;

/** The first pod sends to the others. */
const startAgent = async (node: OvnNode, resources: AsyncDisposableStack) => {
  const server = await startEmbeddedServer({ listen: [{ host: '127.0.0.1', port: 0 }] });
  resources.defer(() => server.close());
  const client = server.cluster.client('bench');
  for (const object of nodes()) await create(client, NODES, object);
  await create(client, NAMESPACES, namespaceObject(NAMESPACE));
  const ports: Port[] = [];
  for (const index of indexes(POLICIES + 1)) {
    const { uid } = (await create(client, PODS, podOf(index))).metadata;
    ports.push({ name: podPortName('default', NAMESPACE, podName(index)), uid });
  }
  const kubeconfig = join(await temporaryFolder(resources), 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig());
  const agent = resources.use(nodeProcess(AGENT, [kubeconfig, formatRemote(northboundOf(node))]));
  await agent.line();
  return { client, ports };
};

const AGENT = join(import.meta.dirname, '..', 'services', 'watching-agent.ts');

const podOf = (index: number): KubeObject =>
  podObject({
    namespace: NAMESPACE,
    name: podName(index),
    number: index,
    isLocal: true,
    labels: { number: String(index) },
  });

const create = async (client: KubeClient, resource: ResourceType, { metadata, ...object }: KubeObject) => {
  const { uid: _, resourceVersion: __, creationTimestamp: ___, ...rest } = metadata;
  return await client.create(resource, { ...object, metadata: rest } as ObjectInput);
};

/** @returns the milliseconds of each policy. @throws Error when packets are dropped before their policy is there */
const isolateAll = async (node: OvnNode, client: KubeClient, signal: AbortSignal): Promise<number[]> => {
  nativeProgram('drops');
  const [file, args] = node.enter([join(OPT, 'build', 'bench', 'drops'), 'bench0', String(INTERVAL_MS)]);
  await using drops = new LineProcess('drops', file, args);
  const lines = targets().map((index) => `bench${index} ${podAddress(0, true)} ${podAddress(index, true)}\n`);
  drops.write(`${lines.join('')}\n`);
  await drops.line();
  const start = performance.now();
  const applied: bigint[] = [];
  const writes: Promise<unknown>[] = [];
  for (const index of targets()) {
    await delay(Math.max(0, start + ((index - 1) * 1000) / PER_SECOND - performance.now()), undefined, { signal });
    // CLOCK_MONOTONIC, as of the other program.
    applied.push(process.hrtime.bigint());
    writes.push(create(client, NETWORK_POLICIES, policyOf(index)));
  }
  await Promise.all(writes);
  const samples: number[] = [];
  for (const _ of targets()) {
    const [index, dropped = ''] = (await drops.line()).split(' ');
    samples.push(Number(BigInt(dropped) - (applied[Number(index)] ?? 0n)) / 1e6);
  }
  if (Math.min(...samples) < -INTERVAL_MS) throw new Error('packets were lost before there was a policy');
  for (const index of targets()) {
    await client.delete(NETWORK_POLICIES, { namespace: NAMESPACE, name: `policy-${index}` });
  }
  return samples;
};

const targets = (): number[] => indexes(POLICIES).map((index) => index + 1);

const policyOf = (index: number): KubeObject =>
  policyObject(NAMESPACE, `policy-${index}`, {
    podSelector: { matchLabels: { number: String(index) } },
    policyTypes: ['Ingress'],
    ingress: [{ from: [{ podSelector: { matchLabels: { friend: 'yes' } } }], ports: [{ port: 1000 + index }] }],
  });
