import { expect, it } from 'vitest';
import { createFakeClock } from '../../../base/testing/fake-clock.ts';
import { NotConnectedError, OvsdbError } from '../../errors.ts';
import { bulkLoad, type LoadReply } from './bulk-load.ts';
import type { LoadTransaction } from './load-transactions.ts';

const transactions = (count: number): LoadTransaction[] =>
  Array.from({ length: count }, (_, index) => ({ text: String(index).repeat(10), operations: 1, owners: 1, rows: [] }));

/** Answers when it is told to. */
class HeldSession {
  readonly sent: string[] = [];
  most = 0;
  readonly #waiting: PromiseWithResolvers<void>[] = [];

  readonly transactText = (text: string): Promise<void> => {
    const waiting = Promise.withResolvers<void>();
    this.sent.push(text);
    this.#waiting.push(waiting);
    this.most = Math.max(this.most, this.#waiting.length);
    return waiting.promise;
  };

  answer(error?: Error): void {
    const waiting = this.#waiting.shift();
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(error);
  }
}

const start = (count: number, maxBytes: number) => {
  const session = new HeldSession();
  const replies: LoadReply[] = [];
  const done = bulkLoad({
    transactions: transactions(count),
    session,
    maxBytes,
    mayGoOn: () => true,
    onReply: (reply) => replies.push(reply),
    clock: createFakeClock(),
  });
  return { session, replies, done };
};

const turns = async (count = 20): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

it('sends without waiting for replies, up to so many bytes', async () => {
  const { session, replies, done } = start(6, 25);
  await turns();
  expect(session.sent).toHaveLength(3);
  session.answer();
  await turns();
  expect(session.sent).toHaveLength(4);
  for (let reply = 0; reply < 6; reply++) {
    session.answer();
    await turns();
  }
  await done;
  expect(session.most).toBe(3);
  expect(replies).toHaveLength(6);
});

it('goes on when a transaction is refused, unless it is the first', async () => {
  const refusal = new OvsdbError('ERR_OVSDB_CONSTRAINT_VIOLATION', 'no');
  const second = start(3, 15);
  for (const error of [undefined, refusal, undefined]) {
    await turns();
    second.session.answer(error);
  }
  await second.done;
  expect(second.replies.map(({ error }) => error)).toEqual([undefined, refusal, undefined]);
  const first = start(3, 5);
  await turns();
  first.session.answer(refusal);
  await first.done;
  expect(first.session.sent).toHaveLength(1);
});

it('ends when the connection is lost, and says what became of everything that was sent', async () => {
  const { session, replies, done } = start(9, 35);
  await turns();
  session.answer();
  session.answer(new NotConnectedError('gone'));
  await turns();
  for (let reply = 0; reply < 9; reply++) session.answer(new NotConnectedError('gone'));
  await done;
  expect(session.sent.length).toBeLessThan(9);
  expect(replies).toHaveLength(session.sent.length);
});
