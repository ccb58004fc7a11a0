/** Routes and rules: the agent's backend against `ip -batch`. */

import { NODE_PROGRAM } from '../../sandbox/machine/node-root.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { LineProcess } from '../line-process.ts';
import { startOvnNode } from '../node/ovn-node.ts';
import { nodeProgram } from '../program.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { routingBatch } from './routing-items.ts';

const ROUNDS = 5;
const NETWORKS = 500;

export const benchRoutes = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`node/routes: ${ROUNDS} × the routes and rules of ${NETWORKS} networks each way`);
  const program = await nodeProgram('host-agent', 'bench/datapath/host-agent.ts');
  await using resources = new AsyncDisposableStack();
  const node = resources.use(await startOvnNode(`bench-routes-${process.pid}`, signal));
  const agent = resources.use(new LineProcess('host-agent', ...node.enter([NODE_PROGRAM, program, String(NETWORKS)])));
  const batches = (verb: 'add' | 'del') =>
    ([4, 6] as const).map((family) => [family, routingBatch(NETWORKS, family, verb)] as const);
  const [add, remove] = [batches('add'), batches('del')];
  const apply = async (inputs: typeof add): Promise<void> => {
    for (const [family, input] of inputs) {
      await node.run(['ip', `-${family}`, '-batch', '-'], { input, timeoutMs: 120_000 });
    }
  };
  const product = async (): Promise<number> => {
    agent.write('again\n');
    return Number(await agent.line());
  };
  const tool = async (): Promise<number> => {
    const start = performance.now();
    await apply(add);
    const milliseconds = performance.now() - start;
    await apply(remove);
    return milliseconds;
  };
  return await eachRun(async (run) => {
    const { values, references } = await alternate({ rounds: ROUNDS, run, warmUp: 1, signal }, product, tool);
    const [value, reference] = [median(values), median(references)];
    return [benchResult({ name: 'node/routes', value, unit: 'ms', reference, rounds: ROUNDS })];
  });
};
