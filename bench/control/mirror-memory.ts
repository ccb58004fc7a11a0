/** What a mirror of pods holds in memory, by our reflector and by client-node's informer, each in a process of its own. */
import { join } from 'node:path';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { LineProcess } from '../line-process.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { type Fleet, PODS_OF_EACH } from './fleet.ts';

const ROUNDS = 1;

export const benchReflectorMemory = async (
  fleet: Fleet,
  { progress, eachRun }: Pick<BenchContext, 'progress' | 'eachRun'>,
): Promise<BenchResult[]> => {
  progress(`kube/reflector-memory: ${ROUNDS} times each`);
  await fleet.addresses();
  const { plane, signal, size } = fleet;
  const measure = async (kind: 'reflector' | 'informer'): Promise<number> => {
    const program = join(import.meta.dirname, 'mirror-process.ts');
    const args = ['--expose-gc', program, kind, plane.kubeconfig];
    await using mirror = new LineProcess(kind, process.execPath, args);
    const { objects, bytes } = JSON.parse(await mirror.line()) as { objects: number; bytes: number };
    if (objects < size * PODS_OF_EACH) throw new Error(`the ${kind} has ${objects} pods`);
    return bytes / objects;
  };
  return await eachRun(async (run) => {
    const { values, references } = await alternate(
      { rounds: ROUNDS, run, signal },
      () => measure('reflector'),
      () => measure('informer'),
    );
    const [value, reference] = [median(values), median(references)];
    return [benchResult({ name: 'kube/reflector-memory', value, unit: 'bytes', reference, rounds: ROUNDS })];
  });
};
