/**
 * Loads a recording of `agent-process.ts` into a server: each transaction after the reply to the one before.
 *
 *   raw-loader.ts RECORDING PATH-OF-SOCKET [MONITORS]
 *
 * The transactions are values in memory before the clock starts; their text is made while it runs. With MONITORS, which is the
 * text of what a monitor asks for, the server tells it of every row, as it tells the agent: it takes that out of the socket and
 * reads nothing of it. Prints the milliseconds until the last reply.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { ZERO_UUID } from '../../ovsdb/uuid.ts';
import { MessageFramer } from '../../ovsdb/wire/framer.ts';

const MAX_MESSAGE = 1 << 28;

const main = ([recording = '', path = '', monitors]: readonly string[]): void => {
  const transactions = JSON.parse(readFileSync(recording, 'utf8')) as unknown[];
  const framer = new MessageFramer(MAX_MESSAGE);
  let replies = 0;
  let start = 0;
  const call = (method: string, params: unknown): void => {
    socket.write(JSON.stringify({ id: replies, method, params }));
  };
  const begin = (): void => {
    start = performance.now();
    call('transact', transactions[0]);
  };
  const socket = connect(path, () => {
    if (monitors === undefined) begin();
    else call('monitor_cond_since', ['OVN_Northbound', 'floor', JSON.parse(monitors), ZERO_UUID]);
  });
  socket.on('data', (chunk: Buffer) => {
    for (const text of framer.push(chunk)) {
      if (isUpdate(text)) continue;
      // A reply without an error has no such word: inserts and changes answer with uuids and counts.
      if (/"error":"/.test(text)) throw new Error(`refused: ${text.slice(0, 500)}`);
      // Of the monitor: from here on the server tells it what changes.
      if (start === 0) {
        begin();
        continue;
      }
      replies += 1;
      if (replies < transactions.length) {
        call('transact', transactions[replies]);
        continue;
      }
      console.log(performance.now() - start);
      socket.end();
    }
  });
};

/** A server writes the members of an object in any order: the method is before the rows or after them. */
const isUpdate = (text: string): boolean => [text.slice(0, END), text.slice(-END)].some((end) => UPDATE.test(end));

const END = 100;
const UPDATE = /"method":"update3"/;

main(process.argv.slice(2));
