/** A cluster of two nodes with real kubelets and without a network plugin, which one is installed to by Helm. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { untilAborted } from '../../base/abort.ts';
import { DEPLOYMENTS, PODS } from '../../kube/resources.ts';
import type { KubeObject } from '../../kube/types.ts';
import { type Sandbox, startSandbox } from '../../sandbox/index.ts';
import { loadImages } from '../../sandbox/install/images.ts';
import { namespacesOf, untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { watchTally } from '../control/watch-until.ts';
import { writeBridgeChart } from './bridge-chart.ts';
import { deployment, namespace, network, pod } from './objects.ts';

const run = promisify(execFile);

export type Plugin = 'ovn-udn' | 'bridge';

/** Times are in milliseconds. */
export interface InstallCluster extends AsyncDisposable {
  /** From the start of `helm install` until the first pod is Ready: once. */
  firstPod(): Promise<number>;
  /** From the creation of a pod until it is Ready, after `firstPod`. It is deleted then. */
  podReady(round: number): Promise<number>;
  /** From the creation of a Deployment until all its pods are Ready. They are deleted then. */
  deployment(replicas: number): Promise<number>;
}

export interface InstallSite {
  /** The program. */
  readonly helm: string;
  readonly signal: AbortSignal;
}

const NODES = ['node-1', 'node-2'];
/** Of a tenant where there are networks. */
const NAMESPACE = 'tenant';
const UP_SECONDS = 300;
const PATIENCE = { timeoutSeconds: 300 };

/** Resolves when the nodes are registered and have the images. */
export const startInstallCluster = async (plugin: Plugin, { helm, signal }: InstallSite): Promise<InstallCluster> => {
  await using resources = new AsyncDisposableStack();
  const sandbox = await startSandbox(
    {
      ...{ name: `bench-${plugin}-${process.pid}`, api: 'kube', kubelet: 'real', ovn: 'pods', uplink: 'nic' },
      ...{ programs: 'kubelet', definitions: false, timeoutSeconds: UP_SECONDS },
    },
    { stop: untilAborted(signal) },
  );
  resources.defer(() => takeDown(sandbox));
  if (plugin === 'ovn-udn') await loadImages(sandbox, NODES);
  const folder = await mkdtemp(join(tmpdir(), 'bench-install-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  const chart = plugin === 'ovn-udn' ? OURS : [await writeBridgeChart(folder)];
  const { kubeconfig = '' } = await sandbox.status();
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: kubeconfig };
  const install = ['install', plugin, ...chart, '--namespace', plugin, '--create-namespace'];
  const owner = resources.move();
  return {
    firstPod: () =>
      timed(async () => {
        await run(helm, install, { env, signal });
        await makeFirstPod(sandbox, plugin);
      }),
    podReady: (round) => podReady(sandbox, `ready-${round}`),
    deployment: (replicas) => deploymentReady(sandbox, replicas, signal),
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
};

/** The subnets of the sandbox, of both families; everything else as the chart has it. */
const OURS = [
  'charts/ovn-udn',
  '--set',
  String.raw`ovn.inCluster=true,settings.clusterSubnets=10.128.0.0/14/23\,fd00:10:128::/48/64,settings.serviceSubnets=10.96.0.0/16\,fd00:10:96::/112`,
];

/** @throws Error when something is left of it */
const takeDown = async (sandbox: Sandbox): Promise<void> => {
  const namespaces = await namespacesOf(sandbox.name);
  await sandbox.down();
  await untilNothingIsLeft(sandbox.name, namespaces);
};

const timed = async (work: () => Promise<void>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

const makeFirstPod = async (sandbox: Sandbox, plugin: Plugin): Promise<void> => {
  const objects = await sandbox.objects();
  const isTenant = plugin === 'ovn-udn';
  if (isTenant) {
    const definition = 'userdefinednetworks.k8s.ovn.org';
    await objects.wait('customresourcedefinition', definition, 'condition=Established', PATIENCE);
  }
  await objects.apply([
    namespace(NAMESPACE, isTenant),
    ...(isTenant ? [network(NAMESPACE)] : []),
    pod(NAMESPACE, 'first'),
  ]);
  await objects.wait('pod', `${NAMESPACE}/first`, 'ready', PATIENCE);
};

const podReady = async (sandbox: Sandbox, name: string): Promise<number> => {
  const objects = await sandbox.objects();
  const ms = await timed(async () => {
    await objects.apply([pod(NAMESPACE, name)]);
    await objects.wait('pod', `${NAMESPACE}/${name}`, 'ready', PATIENCE);
  });
  await objects.delete([pod(NAMESPACE, name)], PATIENCE);
  return ms;
};

const deploymentReady = async (sandbox: Sandbox, replicas: number, signal: AbortSignal): Promise<number> => {
  const [client, objects] = [await sandbox.client(), await sandbox.objects()];
  const isDone = (object: KubeObject): boolean =>
    (object['status'] as { readonly readyReplicas?: number } | undefined)?.readyReplicas === replicas;
  const watched = { client, namespace: NAMESPACE };
  await using ready = await watchTally({ ...watched, resource: DEPLOYMENTS, isDone }, signal);
  await using pods = await watchTally({ ...watched, resource: PODS }, signal);
  const before = pods.count;
  const many = deployment(NAMESPACE, 'many', replicas);
  const ms = await timed(async () => {
    await objects.apply([many]);
    await ready.reaches(1);
  });
  await objects.delete([many], PATIENCE);
  await pods.reaches(before);
  return ms;
};
