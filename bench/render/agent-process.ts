/**
 * The agent between the API's objects and the northbound database, as a process of its own: its inputs, facts, features,
 * engine and reconciler as they are, with the objects from a file.
 *
 *   agent-process.ts FILE REMOTE [RECORDING]
 *
 * Prints the milliseconds from the objects' text to a reconciled database. Then, for every line "NAME COUNT" on stdin, lets
 * a pod of the first tenant come and go COUNT times, each until the database has it, and prints the microseconds of this
 * process' processor time that each of these events took. With RECORDING it writes what it has sent instead, and ends.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { projectPod } from '../../agent/inputs/pod-projection.ts';
import { type RenderAgent, startRenderAgent } from './agent.ts';
import { readPages } from './object-pages.ts';
import { LOCAL_NODE, podObject } from './objects.ts';
import { type StaticCaches, staticCaches } from './static-caches.ts';

const main = async ([file = '', remote = '', recording]: readonly string[]): Promise<void> => {
  const text = readFileSync(file, 'utf8');
  const start = performance.now();
  const caches = staticCaches(readPages(text));
  const agent = await startRenderAgent({ caches, remote, isRecorded: recording !== undefined });
  console.log(performance.now() - start);
  if (recording !== undefined) writeFileSync(recording, JSON.stringify(agent.sent));
  else {
    const events = podEvents(agent, caches);
    for await (const line of createInterface(process.stdin)) console.log(await events(Number(line)));
  }
  await agent.stop();
};

/** @returns what lets so many happen, and reports the microseconds of each */
const podEvents = (
  { engine, reconciler }: RenderAgent,
  { pods }: StaticCaches,
): ((number: number) => Promise<number>) => {
  let count = 0;
  const change = async (desired: boolean): Promise<void> => {
    // Each has a name of its own, as pods have.
    if (desired) count += 1;
    const object = podObject(1, 127, `new-${count}`);
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    const projection = desired ? projectPod(object, LOCAL_NODE) : undefined;
    if (projection === undefined) pods.remove(key);
    else pods.set(key, projection);
    engine.flush();
    await reconciler.whenDone(`pods:${key}`);
  };
  return async (number) => {
    const before = process.cpuUsage();
    for (let i = 0; i < number; i++) await change(i % 2 === 0);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / number;
  };
};

await main(process.argv.slice(2));
