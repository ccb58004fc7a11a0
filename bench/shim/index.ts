/** What one process of the CNI plugin costs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findArtifacts } from '../../sandbox/artifacts.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { Stopwatch } from '../stopwatch.ts';

const ROUNDS = 500;
const WARM_UP = 20;
const CONFIGURATION = '{"cniVersion":"1.1.0","name":"ovn-kubernetes","type":"ovn-k8s-cni-overlay"}\n';

/** A VERSION call against a program that does nothing. */
export const benchShimVersion = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`shim/version: ${ROUNDS} times each`);
  await using stopwatch = new Stopwatch();
  await using folder = await temporaryFolder();
  const stdin = join(folder.path, 'network.conf');
  await writeFile(stdin, CONFIGURATION);
  const { shim } = findArtifacts();
  const version = async (): Promise<number> => {
    const { milliseconds, stdout } = await stopwatch.time({ file: shim, stdin, env: { CNI_COMMAND: 'VERSION' } });
    if (!stdout.includes('"supportedVersions"')) throw new Error(`VERSION answered ${stdout}`);
    return milliseconds;
  };
  const nothing = async (): Promise<number> =>
    (await stopwatch.time({ file: '/bin/true', stdin, env: {} })).milliseconds;
  return await eachRun(async (run) => {
    const { values, references } = await alternate({ rounds: ROUNDS, run, warmUp: WARM_UP, signal }, version, nothing);
    const [value, reference] = [median(values), median(references)];
    return [benchResult({ name: 'shim/version', value, unit: 'ms', reference, rounds: ROUNDS })];
  });
};

/** The largest resident set of the shim in an ADD, its answer included. */
export const benchShimRss = async (context: BenchContext): Promise<BenchResult[]> => {
  const { rig, plainPods } = await context.smallNode();
  context.progress(`shim/rss: ${RSS_ROUNDS} ADDs`);
  return await context.eachRun(async (run) => {
    const samples: number[] = [];
    for (let round = run * RSS_ROUNDS; round < (run + 1) * RSS_ROUNDS; round++) {
      context.signal.throwIfAborted();
      const pod = plainPods[round % plainPods.length];
      if (pod === undefined) throw new Error('no pods');
      samples.push(await rig.shimRssKib(pod));
    }
    return [benchResult({ name: 'shim/rss', value: median(samples), unit: 'KiB', reference: 1, rounds: RSS_ROUNDS })];
  });
};

const RSS_ROUNDS = 20;

const temporaryFolder = async (): Promise<{ readonly path: string } & AsyncDisposable> => {
  const path = await mkdtemp(join(tmpdir(), 'bench-shim-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
};
