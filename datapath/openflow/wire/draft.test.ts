import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { BundleOp } from '../switch-client.ts';
import { socketBridge } from '../testing/socket-bridge.ts';
import { VERSION } from './bundle.ts';
import { SocketDraft } from './draft.ts';
import { encode, MESSAGE, type Message } from './message.ts';

const BARRIER = 20;
const BARRIER_REPLY = 21;
const CONTROL = 33;
const ADD = 34;
const [OPEN, OPENED, COMMIT, COMMITTED] = [0, 1, 4, 5];
const WHOLE = ['hello', 'open', 'add', 'add', 'barrier', 'commit'];

const op = (priority: number, actions = 'drop'): BundleOp => ({
  op: 'addFlow',
  flow: { identity: `table=0,priority=${priority}`, cookie: '0x5', actions },
});
const [FIRST, SECOND, UNKNOWN] = [op(1), op(2), op(3, 'bogus')];

/** The messages that the bridge got: `open`, `add`, `commit`. */
const wordOf = ({ type, body }: Message): string => {
  if (type === MESSAGE.hello) return 'hello';
  if (type === ADD) return 'add';
  if (type === BARRIER) return 'barrier';
  if (type !== CONTROL) return `${type}`;
  return { [OPEN]: 'open', [COMMIT]: 'commit' }[body.readUInt16BE(4)] ?? 'control';
};

const control = (type: number): Buffer => encode(VERSION, CONTROL, 0, Buffer.from([0, 0, 0, 0, 0, type, 0, 3]));

/** As ovs-vswitchd does. */
const usual = (word: string): Buffer | undefined => {
  if (word === 'open') return control(OPENED);
  if (word === 'barrier') return encode(VERSION, BARRIER_REPLY, 0);
  return word === 'commit' ? control(COMMITTED) : undefined;
};

/** A bridge that answers as the test says, or as usual, and a draft for it. */
const setUp = async (
  answer: (word: string, socket: Socket, message: Message) => Buffer | undefined = () => undefined,
) => {
  const reported: string[] = [];
  const bridge = await socketBridge((message, socket) => {
    const word = wordOf(message);
    reported.push(word);
    const bytes = answer(word, socket, message);
    return socket.destroyed ? undefined : (bytes ?? usual(word));
  });
  const stop = new AbortController();
  const draft = new SocketDraft(bridge.socket, stop.signal);
  return { draft, reported, stop, bridge, [Symbol.asyncDispose]: () => bridge[Symbol.asyncDispose]() };
};

describe('a draft of a bundle', () => {
  it('is sent piece by piece, and done when the bridge says so', async () => {
    await using there = await setUp();
    there.draft.push([FIRST]);
    there.draft.push([SECOND]);
    await there.draft.commit();
    expect(there.reported).toEqual(WHOLE);
  });

  it('answers whether it is there', async () => {
    await using there = await setUp((word) => {
      if (word === 'commit') return encode(VERSION, MESSAGE.echoRequest, 9);
      return word === `${MESSAGE.echoReply}` ? control(COMMITTED) : undefined;
    });
    there.draft.push([FIRST]);
    await there.draft.commit();
    expect(there.reported).toContain(`${MESSAGE.echoReply}`);
  });

  it('is nothing when there is nothing in it', async () => {
    await using there = await setUp();
    there.draft.push([]);
    await there.draft.commit();
    expect(there.reported).toEqual([]);
  });

  it.each([
    ['OFPFMFC_OVERLAP', [0, 5, 0, 3]],
    ['NXBMC_CT_DATAPATH_SUPPORT', [0xff, 0xff, 0, 43, 0, 0, 0x23, 0x20]],
    ['error 65535.43', [0xff, 0xff, 0, 43, 0, 0, 0, 1]],
    ['error 5.99', [0, 5, 0, 99]],
  ])('fails with the name of the step that the bridge refuses: %s', async (name, body) => {
    await using there = await setUp((word, _, { xid }) =>
      word === 'add' && xid === 2 ? encode(VERSION, MESSAGE.error, xid, Buffer.from(body)) : undefined,
    );
    there.draft.push([FIRST]);
    there.draft.push([SECOND]);
    await expect(there.draft.commit()).rejects.toMatchObject({
      code: 'ERR_OPENFLOW_REFUSED',
      message: `bridge br-ex refused: ${name} for flow table=0,priority=2,cookie=0x5,actions=drop`,
    });
    // The bridge would commit the other one.
    expect(there.reported).not.toContain('commit');
  });

  it('is not committed when one of its steps cannot be encoded', async () => {
    await using there = await setUp();
    there.draft.push([FIRST]);
    there.draft.push([UNKNOWN]);
    there.draft.push([SECOND]);
    await expect(there.draft.commit()).rejects.toMatchObject({
      code: 'ERR_OPENFLOW_INVALID',
      message: 'the bytes of bogus are not known',
    });
    expect(there.reported).not.toContain('commit');
  });

  it('fails when there is no bridge', async () => {
    await using there = await setUp();
    await there.bridge.close();
    there.draft.push([FIRST]);
    await expect(there.draft.commit()).rejects.toMatchObject({
      code: 'ERR_OPENFLOW_UNREACHABLE',
      message: expect.stringMatching(/^bridge br-ex does not answer: connect /),
    });
  });

  it('is not repeated when the bridge goes after the commit was sent: it may be done', async () => {
    await using there = await setUp((word, socket) => void (word === 'commit' && socket.destroy()));
    there.draft.push([FIRST]);
    await expect(there.draft.commit()).rejects.toMatchObject({ code: 'ERR_OPENFLOW_UNREACHABLE' });
    expect(there.reported.filter((word) => word === 'commit')).toHaveLength(1);
  });

  it('is sent again as a whole when the bridge closes the connection before it answers', async () => {
    let connections = 0;
    await using there = await setUp((word, socket) => {
      if (word === 'hello' && ++connections < 3) socket.destroy();
      return undefined;
    });
    there.draft.push([FIRST]);
    there.draft.push([SECOND]);
    await there.draft.commit();
    expect(connections).toBe(3);
    expect(there.reported.slice(-WHOLE.length)).toEqual(WHOLE);
  });

  it('is sent again as a whole when the bridge gave it up because it took too long', async () => {
    let isLate = true;
    await using there = await setUp((word) => {
      if (word !== 'barrier' || !isLate) return undefined;
      isLate = false;
      // OFPBFC_TIMEOUT, about the message that opened it.
      return encode(VERSION, MESSAGE.error, 0, Buffer.from([0, 17, 0, 14]));
    });
    there.draft.push([FIRST]);
    there.draft.push([SECOND]);
    await there.draft.commit();
    expect(there.reported).toEqual([...WHOLE.slice(0, -1), ...WHOLE]);
  });

  it('does not wait any longer when it is aborted', async () => {
    const reason = new Error('enough');
    const closed = Promise.withResolvers<void>();
    await using there = await setUp((word, socket) => {
      if (word !== 'commit') return undefined;
      socket.once('close', () => closed.resolve());
      there.stop.abort(reason);
      return Buffer.alloc(0);
    });
    there.draft.push([FIRST]);
    await expect(there.draft.commit()).rejects.toBe(reason);
    await closed.promise;
  });
});
