import { describe, expect, it } from 'vitest';
import { parseMessages } from './codec.ts';
import { NLM_F, NLMSG } from './constants.ts';
import { formatRequest } from './message.ts';
import { type DatagramIo, type NamedRequest, NetlinkSocket } from './socket.ts';

interface Sent {
  readonly seq: number;
  readonly flags: number;
  readonly payload: string;
}

/** A kernel that answers each write with the datagrams that `reply` gives. */
const scripted = (reply: (sent: readonly Sent[], write: number) => (Buffer | Error)[]) => {
  const writes: Sent[][] = [];
  const waiting: (Buffer | Error)[] = [];
  const send = (bytes: Uint8Array) => {
    const sent = parseMessages(Buffer.from(bytes)).map(({ seq, flags, data }) => ({ seq, flags, payload: `${data}` }));
    writes.push(sent);
    waiting.push(...reply(sent, writes.length));
  };
  const io: DatagramIo = {
    send,
    sendInBackground: async (bytes) => send(bytes),
    receive: () => {
      const next = waiting.shift() ?? Object.assign(new Error('EAGAIN'), { code: 'EAGAIN', errno: -11 });
      if (next instanceof Error) throw next;
      return next;
    },
  };
  return { socket: new NetlinkSocket(io), writes };
};

const message = (type: number, seq: number, payload: Uint8Array = Buffer.alloc(0), flags = 0): Buffer =>
  Buffer.concat(formatRequest({ type, flags, payload }, seq));
const int = (value: number): Buffer => Buffer.from(Int32Array.of(value).buffer);
const end = (seq: number, errno = 0): Buffer =>
  message(NLMSG.ERROR, seq, Buffer.concat([int(-errno), message(16, seq)]), NLM_F.CAPPED);
const done = (seq: number): Buffer => message(NLMSG.DONE, seq, int(0));
const request = (name: string): NamedRequest => ({
  type: 16,
  flags: 0,
  payload: Buffer.from(name.padEnd(8)),
  subject: name,
});

describe('change', () => {
  it('writes many requests at once and asks for one acknowledgement', () => {
    const { socket, writes } = scripted((sent) => [end(sent.at(-1)!.seq)]);
    expect(socket.change(['a', 'b', 'c'].map(request))).toEqual([undefined, undefined, undefined]);
    expect(writes.map((sent) => sent.map(({ flags }) => flags))).toEqual([
      [NLM_F.REQUEST, NLM_F.REQUEST, NLM_F.REQUEST | NLM_F.ACK],
    ]);
  });

  it('reports which ones were refused', () => {
    const { socket } = scripted((sent) => [end(sent[1]!.seq, 17), end(sent[2]!.seq, 19)]);
    expect(socket.change(['a', 'b', 'c'].map(request))).toEqual([
      undefined,
      expect.objectContaining({ code: 'EEXIST', errno: 17, message: 'b: EEXIST' }),
      expect.objectContaining({ code: 'ENODEV', message: 'c: ENODEV' }),
    ]);
  });

  it('keeps order and results over several writes', () => {
    const { socket, writes } = scripted((sent) => [
      ...sent.filter(({ payload }) => payload.startsWith('bad')).map(({ seq }) => end(seq, 1)),
      end(sent.at(-1)!.seq),
    ]);
    const names = Array.from({ length: 200 }, (_, i) => (i % 90 === 3 ? `bad${i}` : `ok${i}`));
    const results = socket.change(names.map(request));
    expect(writes.length).toBe(4);
    expect(writes.flat().map(({ payload }) => payload.trim())).toEqual(names);
    expect(results.flatMap((error, i) => (error === undefined ? [] : [i]))).toEqual([3, 93, 183]);
  });

  it('has nothing to do for nothing', () => {
    const { socket, writes } = scripted(() => []);
    expect(socket.change([])).toEqual([]);
    expect(writes).toEqual([]);
  });

  it('drops late answers to something else', () => {
    const { socket } = scripted((sent) => [end(4000, 17), message(16, 4001), end(sent[0]!.seq)]);
    expect(socket.change([request('a')])).toEqual([undefined]);
  });

  it('can leave the thread meanwhile', async () => {
    const { socket } = scripted((sent) => [end(sent[0]!.seq, 19)]);
    expect(await socket.changeInBackground(request('a'))).toMatchObject({ code: 'ENODEV' });
  });

  it.each([
    ['nothing comes', [], 'ERR_NETLINK_NO_ANSWER'],
    ['garbage comes', [Buffer.from('garbage')], 'ERR_NETLINK_MALFORMED'],
    ['the buffer overflowed', [Object.assign(new Error('read'), { code: 'ENOBUFS', errno: -105 })], 'ENOBUFS'],
  ])('fails when %s', (_, replies, code) => {
    const { socket } = scripted(() => replies);
    expect(() => socket.change([request('a')])).toThrow(expect.objectContaining({ code }));
  });
});

describe('get', () => {
  it('gives one object', () => {
    const { socket } = scripted((sent) => [message(16, sent[0]!.seq, Buffer.from('eth0'))]);
    expect(socket.get(request('a'), String)).toBe('eth0');
  });

  it('fails as the kernel says', () => {
    const { socket } = scripted((sent) => [end(sent[0]!.seq, 19)]);
    expect(() => socket.get(request('get link x'), String)).toThrow('get link x: ENODEV');
  });
});

describe('dump', () => {
  it('collects the desired state from all datagrams', () => {
    const { socket } = scripted(([sent]) => [
      Buffer.concat([message(16, sent!.seq, Buffer.from('aaaa')), message(16, sent!.seq, Buffer.from('skip'))]),
      Buffer.concat([message(16, sent!.seq, Buffer.from('bbbb')), done(sent!.seq)]),
    ]);
    expect(socket.dump(request('list'), (bytes) => (`${bytes}` === 'skip' ? undefined : `${bytes}`))).toEqual([
      'aaaa',
      'bbbb',
    ]);
  });

  it('asks again when the kernel says that it changed', () => {
    const { socket, writes } = scripted(([sent], write) => [
      message(16, sent!.seq, Buffer.from(`run${write}`), write < 3 ? NLM_F.DUMP_INTR : 0),
      done(sent!.seq),
    ]);
    expect(socket.dump(request('list'), String)).toEqual(['run3']);
    expect(writes.length).toBe(3);
  });

  it('gives up when it never stops changing', () => {
    const { socket, writes } = scripted(([sent]) => [message(NLMSG.DONE, sent!.seq, int(0), NLM_F.DUMP_INTR)]);
    expect(() => socket.dump(request('list'), String)).toThrow(
      expect.objectContaining({ code: 'ERR_NETLINK_INTERRUPTED' }),
    );
    expect(writes.length).toBe(5);
  });

  it('fails with the errno that ends it', () => {
    const { socket } = scripted(([sent]) => [message(NLMSG.DONE, sent!.seq, int(-2))]);
    expect(() => socket.dump(request('list'), String)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });
});
