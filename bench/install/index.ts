/**
 * An installation on a cluster that has the images, and the pods of a tenant, against the CNI plugin `bridge` on the same kind of
 * nodes: real kubelets, a real API server, no kube-proxy. What Kubernetes itself needs for a pod is a part of both.
 */
import { ensureHelm } from '../../sandbox/install/helm.ts';
import { buildImages } from '../../sandbox/install/images.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { startInstallCluster } from './cluster.ts';

export const INSTALL_NAMES = ['install/first-pod', 'install/pod-ready', 'install/deployment-100'] as const;

const ROUNDS = 20;
const REPLICAS = 100;

/** Each run has two new clusters: an installation can be measured once. */
export const benchInstall = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress('install: two clusters with real kubelets for each run, some minutes');
  const helm = await ensureHelm();
  await buildImages();
  return await eachRun(() => measure({ helm, signal, progress }));
};

interface Measurement extends Pick<BenchContext, 'signal' | 'progress'> {
  readonly helm: string;
}

const measure = async ({ helm, signal, progress }: Measurement): Promise<BenchResult[]> => {
  await using ours = await startInstallCluster('ovn-udn', { helm, signal });
  await using bridge = await startInstallCluster('bridge', { helm, signal });
  const [firstPod, podReady, deployment] = INSTALL_NAMES;
  progress(firstPod);
  const first = { value: await ours.firstPod(), reference: await bridge.firstPod() };
  progress(`${podReady}: ${ROUNDS} pods each`);
  const pods = await alternate({ rounds: ROUNDS, warmUp: 2, signal }, ours.podReady, bridge.podReady);
  progress(`${deployment}: ${REPLICAS} pods each`);
  const all = { value: await ours.deployment(REPLICAS), reference: await bridge.deployment(REPLICAS) };
  const ready = { value: median(pods.values), reference: median(pods.references) };
  return [
    benchResult({ name: firstPod, unit: 'ms', rounds: 1, ...first }),
    benchResult({ name: podReady, unit: 'ms', rounds: ROUNDS, ...ready }),
    benchResult({ name: deployment, unit: 'ms', rounds: 1, ...all }),
  ];
};
