/** The whole measurement: of a running cluster, to a verdict for every pair of pods. */
import { randomBytes } from 'node:crypto';
import type { Objects, Sandbox } from '../index.ts';
import { judge } from './judge.ts';
import { planProbes } from './plan.ts';
import { reachabilityPods } from './pods.ts';
import { DEFAULT_TIMING, type Prober, type ProbeTiming, runProbes } from './run.ts';
import type { Reachability, ReachabilityPod } from './types.ts';

/** Of all namespaces. Every pod needs the toolbox's server: a container without a command has it. */
export const readPods = async (objects: Pick<Objects, 'list'>): Promise<ReachabilityPod[]> => {
  const [pods, nads] = await Promise.all([objects.list('pods'), objects.list('network-attachment-definitions')]);
  return reachabilityPods(pods, nads);
};

/** Every pod tries to reach every other one. */
export const measureReachability = async (
  prober: Prober,
  pods: readonly ReachabilityPod[],
  timing: ProbeTiming = DEFAULT_TIMING,
  signal?: AbortSignal,
): Promise<Reachability[]> => {
  const probes = planProbes(pods, randomBytes(4).toString('hex'));
  return judge(pods, probes, await runProbes(prober, probes, timing, signal));
};

/** @throws SandboxError without an API server */
export const measureCluster = async (
  sandbox: Pick<Sandbox, 'exec' | 'objects'>,
  timing?: ProbeTiming,
): Promise<Reachability[]> => measureReachability(sandbox, await readPods(await sandbox.objects()), timing);
