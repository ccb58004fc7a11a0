import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encode, MESSAGE, type Message, MessageReader } from '../ports/message.ts';
import type { BundleOp } from '../switch-client.ts';
import { SocketDraft } from './draft.ts';

const HELLO = 0;
const BARRIER = 20;
const BARRIER_REPLY = 21;
const CONTROL = 33;
const ADD = 34;
const [OPEN, OPENED, COMMIT, COMMITTED] = [0, 1, 4, 5];

const op = (priority: number, actions = 'drop'): BundleOp => ({
  op: 'addFlow',
  flow: { identity: `table=0,priority=${priority}`, cookie: '0x5', actions },
});
const [FIRST, SECOND, UNKNOWN] = [op(1), op(2), op(3, 'bogus')];

/** What the bridge was told: `open`, `add`, `commit`. */
const wordOf = ({ type, body }: Message): string => {
  if (type === HELLO) return 'hello';
  if (type === ADD) return 'add';
  if (type === BARRIER) return 'barrier';
  if (type !== CONTROL) return `${type}`;
  return { [OPEN]: 'open', [COMMIT]: 'commit' }[body.readUInt16BE(4)] ?? 'control';
};

const control = (type: number): Buffer => encode(CONTROL, 1, Buffer.from([0, 0, 0, 0, 0, type, 0, 3]));
const opened = (): Buffer => control(OPENED);
const committed = (): Buffer => control(COMMITTED);

/** A bridge that answers each message as the test says, and a draft for it. */
const setUp = async (answer: (word: string, socket: Socket) => Buffer | undefined) => {
  const folder = await mkdtemp(join(tmpdir(), 'bundle-draft-'));
  const path = join(folder, 'br-ex.mgmt');
  const told: string[] = [];
  const closed = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    const reader = new MessageReader();
    let isRefused = false;
    socket.on('error', () => {});
    socket.on('close', () => closed.resolve());
    socket.on('data', (piece: Buffer) => {
      for (const message of reader.push(piece)) {
        told.push(wordOf(message));
        const isBarrier = message.type === BARRIER && !isRefused;
        const bytes = answer(wordOf(message), socket) ?? (isBarrier ? encode(BARRIER_REPLY, 1) : undefined);
        isRefused ||= bytes?.[1] === MESSAGE.error;
        if (bytes !== undefined) socket.write(bytes);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const byProgram: (readonly BundleOp[])[] = [];
  const stop = new AbortController();
  const draft = new SocketDraft({
    bridge: 'br-ex',
    path,
    signal: stop.signal,
    byProgram: (ops) => Promise.resolve(void byProgram.push([...ops])),
  });
  const end = async (): Promise<void> => {
    draft.drop();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  };
  return { draft, told, byProgram, stop, server, closed: closed.promise, [Symbol.asyncDispose]: end };
};

describe('a draft of a bundle', () => {
  it('is told piece by piece, and done when the bridge says so', async () => {
    await using there = await setUp((word) => (word === 'commit' ? committed() : undefined));
    there.draft.push([FIRST]);
    there.draft.push([SECOND]);
    await there.draft.commit();
    expect(there.told).toEqual(['hello', 'open', 'add', 'add', 'barrier', 'commit']);
    expect(there.byProgram).toEqual([]);
  });

  it('answers whether it is there', async () => {
    await using there = await setUp((word) => {
      if (word === 'commit') return encode(MESSAGE.echoRequest, 9);
      return word === `${MESSAGE.echoReply}` ? committed() : undefined;
    });
    there.draft.push([FIRST]);
    await there.draft.commit();
    expect(there.told).toContain(`${MESSAGE.echoReply}`);
  });

  it('is nothing when there is nothing in it', async () => {
    await using there = await setUp(() => undefined);
    there.draft.push([]);
    await there.draft.commit();
    expect([there.told, there.byProgram]).toEqual([[], []]);
  });

  it('goes to ovs-ofctl as a whole when the bridge refuses it', async () => {
    await using there = await setUp((word) =>
      word === 'add' ? encode(MESSAGE.error, 1, Buffer.from([0, 4, 0, 9])) : undefined,
    );
    there.draft.push([FIRST]);
    there.draft.push([SECOND]);
    await there.draft.commit();
    expect(there.byProgram).toEqual([[FIRST, SECOND]]);
    // What was not refused of it would be done.
    expect(there.told).not.toContain('commit');
  });

  it('goes to ovs-ofctl as a whole when a piece is not known, and the bridge forgets what it was told', async () => {
    await using there = await setUp(() => undefined);
    there.draft.push([FIRST]);
    there.draft.push([UNKNOWN]);
    there.draft.push([SECOND]);
    await there.draft.commit();
    expect(there.byProgram).toEqual([[FIRST, UNKNOWN, SECOND]]);
    expect(there.told).not.toContain('commit');
  });

  it('goes to ovs-ofctl, which says why, when there is no bridge', async () => {
    await using there = await setUp(() => undefined);
    await new Promise((resolve) => there.server.close(resolve));
    there.draft.push([FIRST]);
    await there.draft.commit();
    expect(there.byProgram).toEqual([[FIRST]]);
  });

  it('may be done or not when the bridge goes after it was told to commit', async () => {
    await using there = await setUp((word, socket) => {
      if (word === 'commit') socket.destroy();
      return word === 'open' ? opened() : undefined;
    });
    there.draft.push([FIRST]);
    await expect(there.draft.commit()).rejects.toMatchObject({ code: 'ERR_OPENFLOW_UNREACHABLE' });
    expect(there.byProgram).toEqual([]);
  });

  it('goes to ovs-ofctl when the bridge goes before it has read anything', async () => {
    await using there = await setUp((word, socket) => {
      if (word === 'hello') socket.destroy();
      return undefined;
    });
    there.draft.push([FIRST]);
    await there.draft.commit();
    expect(there.byProgram).toEqual([[FIRST]]);
  });

  it('does not wait any longer when it is aborted', async () => {
    const reason = new Error('enough');
    await using there = await setUp((word) => {
      if (word === 'commit') there.stop.abort(reason);
      return undefined;
    });
    there.draft.push([FIRST]);
    await expect(there.draft.commit()).rejects.toBe(reason);
    await there.closed;
  });
});
