/**
 * The agent between pods, policies and the northbound database, as a process of its own, with the objects from a file.
 *
 *   agent-process.ts FILE REMOTE [RECORDING]        run with --expose-gc
 *
 * Prints a line of JSON (`Done`) when the database is as desired. Then, for every line on stdin, which is a `Change` as JSON, the same
 * for what it changes. With RECORDING it writes what it has sent instead, and ends.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import type { KubeObject } from '../../kube/types.ts';
import { type RenderAgent, startRenderAgent } from '../render/agent.ts';
import { readPages } from '../render/object-pages.ts';
import { liveCaches } from './live-caches.ts';

export interface Change {
  readonly put?: readonly KubeObject[];
  readonly remove?: readonly KubeObject[];
  /** Whether `heap` is wanted. */
  readonly heap?: true;
}

export interface Done {
  /** From the objects until the database has what follows; of a start, from their text. */
  readonly ms: number;
  /** All since the start. */
  readonly transactions: number;
  /** Bytes that the heap and the buffers beside it hold after a full collection; 0 unless they are wanted. */
  readonly heap: number;
}

const main = async ([file = '', remote = '', recording]: readonly string[]): Promise<void> => {
  const start = performance.now();
  const { caches, put, remove } = liveCaches(readPages(readFileSync(file, 'utf8')));
  const agent = await startRenderAgent({ caches, remote, isRecorded: recording !== undefined });
  await report(agent, start, {});
  if (recording !== undefined) writeFileSync(recording, JSON.stringify(agent.sent));
  else {
    for await (const line of createInterface(process.stdin)) {
      const change = JSON.parse(line) as Change;
      const before = performance.now();
      for (const object of change.remove ?? []) remove(object);
      for (const object of change.put ?? []) put(object);
      agent.engine.flush();
      await agent.reconciler.whenIdle();
      const [problem] = agent.reconciler.problems();
      if (problem !== undefined) throw new Error(`not reconciled: ${JSON.stringify(problem)}`);
      await report(agent, before, change);
    }
  }
  await agent.stop();
};

const report = async ({ reconciler }: RenderAgent, start: number, { heap }: Change): Promise<void> => {
  const ms = performance.now() - start;
  const done: Done = { ms, transactions: reconciler.counts.transactions, heap: heap === true ? await held() : 0 };
  console.log(JSON.stringify(done));
};

const held = async (): Promise<number> => {
  // What was written is remembered until it has stayed for a few seconds.
  await setTimeout(SETTLED_MS);
  // What a collection finalizes, the next one frees.
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await nextTurn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const SETTLED_MS = 7000;

await main(process.argv.slice(2));
