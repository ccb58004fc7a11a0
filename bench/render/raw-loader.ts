/**
 * Sends a recording of `agent-process.ts` to a server, as fast as that takes it.
 *
 *   raw-loader.ts RECORDING PATH-OF-SOCKET
 *
 * Everything is text before the clock starts. Prints the milliseconds from the first byte to the last reply.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { MessageFramer } from '../../ovsdb/wire/framer.ts';

const MAX_MESSAGE = 1 << 28;

const main = ([recording = '', path = '']: readonly string[]): void => {
  const transactions = JSON.parse(readFileSync(recording, 'utf8')) as unknown[];
  const requests = transactions.map((params, id) => JSON.stringify({ id, method: 'transact', params }));
  const framer = new MessageFramer(MAX_MESSAGE);
  let replies = 0;
  let start = 0;
  const socket = connect(path, () => {
    start = performance.now();
    for (const request of requests) socket.write(request);
  });
  socket.on('data', (chunk: Buffer) => {
    for (const text of framer.push(chunk)) {
      // A reply without an error has no such word: inserts and changes answer with uuids and counts.
      if (/"error":"/.test(text)) throw new Error(`refused: ${text.slice(0, 500)}`);
      replies += 1;
    }
    if (replies < requests.length) return;
    console.log(performance.now() - start);
    socket.end();
  });
};

main(process.argv.slice(2));
