import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { socketBridge } from '../testing/socket-bridge.ts';
import * as framing from '../wire/message.ts';
import { PORT_MESSAGE, VERSION } from './message.ts';
import { changeNoFlood, readPorts } from './port-session.ts';

const MESSAGE = { ...framing.MESSAGE, ...PORT_MESSAGE };

const encode = (type: number, xid: number, body?: Uint8Array): Buffer => framing.encode(VERSION, type, xid, body);

const SIGNAL = new AbortController().signal;

const port = (number: number): Buffer => {
  const bytes = Buffer.alloc(48);
  bytes.writeUInt16BE(number, 0);
  return bytes;
};

const portsReply = (xid: number, hasMore: boolean, ...numbers: readonly number[]): Buffer =>
  encode(MESSAGE.statsReply, xid, Buffer.concat([Buffer.from([0, 13, 0, hasMore ? 1 : 0]), ...numbers.map(port)]));

describe('a session with a bridge', () => {
  it('reads ports that come in several messages, and answers what it is asked meanwhile', async () => {
    const echoes: string[] = [];
    await using there = await socketBridge(({ type, xid, body }, socket) => {
      if (type === MESSAGE.hello) socket.write(encode(MESSAGE.hello, 0));
      if (type === MESSAGE.statsRequest) {
        socket.write(portsReply(xid, true, 1, 2));
        return encode(MESSAGE.echoRequest, 9, Buffer.from('there?'));
      }
      if (type !== MESSAGE.echoReply) return undefined;
      echoes.push(`${xid} ${body}`);
      return portsReply(1, false, 3);
    });
    expect((await readPorts(there.socket, SIGNAL)).map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(echoes).toEqual(['9 there?']);
  });

  it('says which ports are gone and which are refused; the others are changed', async () => {
    const changed: number[] = [];
    await using there = await socketBridge(({ type, xid, body }) => {
      if (type === MESSAGE.statsRequest) return portsReply(xid, false, 1, 2, 3);
      if (type === MESSAGE.barrierRequest) return encode(MESSAGE.barrierReply, xid);
      if (type !== MESSAGE.portMod) return undefined;
      const number = body.readUInt16BE(0);
      // OFPET_PORT_MOD_FAILED, OFPPMFC_BAD_PORT; OFPET_BAD_REQUEST, OFPBRC_EPERM.
      if (number === 2) return encode(MESSAGE.error, xid, Buffer.from([0, 4, 0, 0]));
      if (number === 3) return encode(MESSAGE.error, xid, Buffer.from([0, 1, 0, 5]));
      changed.push(number);
      return undefined;
    });
    const changes = new Map([1, 2, 3, 4].map((number) => [number, true] as const));
    expect(await changeNoFlood(there.socket, changes, SIGNAL)).toEqual({
      gone: new Set([2, 4]),
      refused: new Map([[3, 'bridge br-ex refused: error 1.5']]),
    });
    expect(changed).toEqual([1]);
  });

  it.each<readonly [string, (socket: Socket) => void]>([
    ['ends', (socket) => void socket.end()],
    ['resets', (socket) => void socket.destroy()],
  ])('restarts when the bridge %s connections before it answers', async (_, close) => {
    const closed = new Set<Socket>();
    await using there = await socketBridge(({ type, xid }, socket) => {
      if (type !== MESSAGE.statsRequest) return undefined;
      if (closed.size === 2) return portsReply(xid, false, 1);
      closed.add(socket);
      close(socket);
      return undefined;
    });
    expect((await readPorts(there.socket, SIGNAL)).map(({ number }) => number)).toEqual([1]);
    expect(closed.size).toBe(2);
  });

  it('says that the bridge closes every connection', async () => {
    const connections = new Set<Socket>();
    await using there = await socketBridge((_, socket) => {
      connections.add(socket);
      socket.destroy();
      return undefined;
    });
    await expect(readPorts(there.socket, SIGNAL)).rejects.toMatchObject({
      code: 'ERR_OPENFLOW_UNREACHABLE',
      message: 'bridge br-ex does not answer: it closes connections before it answers',
    });
    expect(connections.size).toBe(5);
  });

  it('does not repeat a change of which part is done', async () => {
    let changes = 0;
    await using there = await socketBridge(({ type, xid }, socket) => {
      if (type === MESSAGE.statsRequest) return portsReply(xid, false, 1);
      if (type !== MESSAGE.portMod) return undefined;
      changes++;
      socket.destroy();
      return undefined;
    });
    await expect(changeNoFlood(there.socket, new Map([[1, true]]), SIGNAL)).rejects.toMatchObject({
      code: 'ERR_OPENFLOW_UNREACHABLE',
    });
    expect(changes).toBe(1);
  });

  it.each<readonly [string, (message: framing.Message, socket: Socket) => Buffer | undefined]>([
    ['ends', (_, socket) => void socket.destroy()],
    ['speaks another version', () => Buffer.from([4, MESSAGE.statsReply, 0, 8, 0, 0, 0, 1])],
    ['does not speak ours', () => encode(MESSAGE.error, 0, Buffer.from([0, 0, 0, 0]))],
    ['sends nonsense', () => Buffer.alloc(8)],
  ])('fails when the bridge %s', async (_, answer) => {
    await using there = await socketBridge(answer);
    await expect(readPorts(there.socket, SIGNAL)).rejects.toMatchObject({ name: 'OpenflowError' });
  });

  it('ends when it is no longer wanted', async () => {
    const abort = new AbortController();
    const reason = new Error('no longer wanted');
    await using there = await socketBridge(() => void abort.abort(reason));
    await expect(readPorts(there.socket, abort.signal)).rejects.toBe(reason);
    await expect(readPorts(there.socket, abort.signal)).rejects.toBe(reason);
  });
});
