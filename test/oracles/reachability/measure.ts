/** The whole measurement: of a running cluster, to a decision for every pair of pods. */
import { randomBytes } from 'node:crypto';
import type { Objects, Sandbox } from '../../../sandbox/index.ts';
import { evaluate } from './evaluate.ts';
import { planProbes } from './plan.ts';
import { reachabilityPods } from './pods.ts';
import { DEFAULT_TIMING, type Prober, type ProbeTiming, runProbes } from './run.ts';
import type { Probe, Reachability, ReachabilityPod } from './types.ts';

/** Of all namespaces. Every pod needs the toolbox's server: a container without a command has it. */
export const readPods = async (objects: Pick<Objects, 'list'>): Promise<ReachabilityPod[]> => {
  const [pods, nads] = await Promise.all([objects.list('pods'), objects.list('network-attachment-definitions')]);
  return reachabilityPods(pods, nads);
};

export interface MeasureOptions {
  readonly timing?: ProbeTiming | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether a network policy forbids one pod to reach another one, by their keys. */
  readonly denies?: ((from: string, to: string) => boolean) | undefined;
}

/**
 * Every pod tries to reach every other one. All at once may keep the userspace datapath busy for longer than all tries of a
 * probe: what should be reached and was not is tried once more, without the rest.
 */
export const measureReachability = async (
  prober: Prober,
  pods: readonly ReachabilityPod[],
  { timing = DEFAULT_TIMING, signal, denies = () => false }: MeasureOptions = {},
): Promise<Reachability[]> => {
  const measure = async (probes: readonly Probe[]): Promise<Reachability[]> =>
    evaluate(pods, probes, await runProbes(prober, probes, timing, signal));
  const probes = planProbes(pods, newRun()).map((probe) => ({
    ...probe,
    expected: probe.expected && !denies(probe.from, probe.to),
  }));
  const results = await measure(probes);
  const missed = probes.filter((_, index) => isMissed(results[index]));
  if (missed.length === 0) return results;
  const run = newRun();
  const again = await measure(missed.map((probe, index) => ({ ...probe, nonce: `${run}.${index}` })));
  const repeated = new Map(missed.map(({ nonce }, index) => [nonce, again[index]]));
  const settled = results.map((result, index) => repeated.get(probes[index]?.nonce ?? '') ?? result);
  // After those of the probes, what came to pods that were not meant.
  return [...settled, ...again.slice(missed.length)];
};

const newRun = (): string => randomBytes(4).toString('hex');

const isMissed = (result: Reachability | undefined): boolean => result?.expected === true && !result.observed;

/** @throws SandboxError without an API server */
export const measureCluster = async (
  sandbox: Pick<Sandbox, 'exec' | 'objects'>,
  timing?: ProbeTiming,
): Promise<Reachability[]> => measureReachability(sandbox, await readPods(await sandbox.objects()), { timing });
