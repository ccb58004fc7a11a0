/**
 * Loads a recording of `agent-process.ts` into a server: each transaction after the reply to the one before.
 *
 *   raw-loader.ts RECORDING PATH-OF-SOCKET
 *
 * The transactions are values in memory before the clock starts; their text is made while it runs. Prints the milliseconds
 * until the last reply.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { MessageFramer } from '../../ovsdb/wire/framer.ts';

const MAX_MESSAGE = 1 << 28;

const main = ([recording = '', path = '']: readonly string[]): void => {
  const transactions = JSON.parse(readFileSync(recording, 'utf8')) as unknown[];
  const framer = new MessageFramer(MAX_MESSAGE);
  let replies = 0;
  const send = (): void => {
    socket.write(JSON.stringify({ id: replies, method: 'transact', params: transactions[replies] }));
  };
  let start = 0;
  const socket = connect(path, () => {
    start = performance.now();
    send();
  });
  socket.on('data', (chunk: Buffer) => {
    for (const text of framer.push(chunk)) {
      // A reply without an error has no such word: inserts and changes answer with uuids and counts.
      if (/"error":"/.test(text)) throw new Error(`refused: ${text.slice(0, 500)}`);
      replies += 1;
      if (replies < transactions.length) {
        send();
        continue;
      }
      console.log(performance.now() - start);
      socket.end();
    }
  });
};

main(process.argv.slice(2));
