/**
 * Sends requests to an API server as fast as it answers: what a program would need that knows beforehand what to write.
 *
 *   request-player.ts KUBECONFIG RECORDING
 *
 * The recording (`request-chain.ts`) is read and its bodies are text before the clock starts. Prints `ready`, waits for a
 * line, plays, and prints the milliseconds from the first request to the last answer. Answers are read and not parsed.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { loadConnection } from '../../kube/config/load.ts';
import { createHttpTransport } from '../../kube/transport/http-transport.ts';
import type { Transport } from '../../kube/transport/types.ts';
import { type ChainRequest, type Recording, UID } from './request-chain.ts';

const main = async ([kubeconfig = '', file = '']: readonly string[]): Promise<void> => {
  const transport = createHttpTransport({ connection: await loadConnection({ kubeconfig, env: {} }) });
  const recording = JSON.parse(readFileSync(file, 'utf8')) as Recording;
  console.log('ready');
  for await (const _ of createInterface({ input: process.stdin })) {
    const start = performance.now();
    await play(transport, recording);
    console.log(performance.now() - start);
  }
  transport.close();
};

const play = async (transport: Transport, { lanes, chains }: Recording): Promise<void> => {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let chain = chains[next++]; chain !== undefined; chain = chains[next++]) await playChain(transport, chain);
  };
  await Promise.all(Array.from({ length: lanes }, work));
};

const playChain = async (transport: Transport, chain: readonly ChainRequest[]): Promise<void> => {
  let uid: string | undefined;
  for (const { method, path, contentType = 'application/json', body, mayFail = [] } of chain) {
    const filled = uid === undefined ? body : body?.replaceAll(UID, uid);
    const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': contentType }) };
    const response = await transport.send({ method, path, headers, body: filled });
    const answer = await text(response.body);
    if (response.status > 299 && !mayFail.includes(response.status)) {
      throw new Error(`${method} ${path}: ${response.status} ${answer.slice(0, 500)}`);
    }
    uid ??= /"uid":"([^"]+)"/.exec(answer)?.[1];
  }
};

await main(process.argv.slice(2));
