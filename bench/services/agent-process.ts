/**
 * The agent between Services and the northbound database, as a process of its own, with the objects from a file.
 *
 *   agent-process.ts FILE REMOTE [RECORDING]
 *
 * Prints a line of JSON (`Started`). Then, for every line on stdin, which is the number of a Service, one endpoint is added to
 * it: prints the milliseconds from the slice until the database has it. With a minus sign before the number the
 * endpoint goes again. With RECORDING it writes what it has sent instead, and ends.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { projectSlice } from '../../agent/inputs/slice-projection.ts';
import { keyOf } from '../../kube/object-key.ts';
import type { KubeObject } from '../../kube/types.ts';
import { type RenderAgent, startRenderAgent } from '../render/agent.ts';
import { readPages } from '../render/object-pages.ts';
import { type StaticCaches, staticCaches } from '../render/static-caches.ts';
import { ENDPOINTS_OF_EACH, serviceKey, sliceObject } from './objects.ts';

export interface Started {
  /** From the objects' text to a reconciled database. */
  readonly ms: number;
  readonly transactions: number;
}

const main = async ([file = '', remote = '', recording]: readonly string[]): Promise<void> => {
  const text = readFileSync(file, 'utf8');
  const start = performance.now();
  const caches = staticCaches(readPages(text));
  const agent = await startRenderAgent({ caches, remote, isRecorded: recording !== undefined });
  const started: Started = { ms: performance.now() - start, transactions: agent.reconciler.counts.transactions };
  console.log(JSON.stringify(started));
  if (recording !== undefined) writeFileSync(recording, JSON.stringify(agent.sent));
  else {
    for await (const line of createInterface(process.stdin)) {
      const endpoints = line.startsWith('-') ? ENDPOINTS_OF_EACH : ENDPOINTS_OF_EACH + 1;
      console.log(await change(agent, caches, sliceObject(Math.abs(Number(line)), endpoints), line));
    }
  }
  await agent.stop();
};

const change = async (
  { engine, reconciler }: RenderAgent,
  { slices }: StaticCaches,
  object: KubeObject,
  line: string,
): Promise<number> => {
  const start = performance.now();
  const projection = projectSlice(object);
  if (projection === undefined) throw new Error(`no slice of a Service: ${line}`);
  slices.set(keyOf(object), projection);
  engine.flush();
  await reconciler.whenDone(`services:${serviceKey(Math.abs(Number(line)))}`);
  return performance.now() - start;
};

await main(process.argv.slice(2));
