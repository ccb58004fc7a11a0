import { type Duplex, duplexPair } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { OvsdbError } from '../errors.ts';
import { type ConnectionOptions, RpcConnection } from './connection.ts';

/** A connection, and the other side of its stream. */
const connect = async (options: ConnectionOptions = {}) => {
  const [ours, peer] = duplexPair();
  const received: { id: unknown; method?: string; params?: unknown; result?: unknown }[] = [];
  peer.on('data', (chunk: Buffer) => received.push(JSON.parse(chunk.toString())));
  peer.on('error', () => {});
  const closed: (OvsdbError | undefined)[] = [];
  const connection = new RpcConnection(ours, {
    probeIntervalMs: 0,
    onClose: (error) => closed.push(error),
    ...options,
  });
  // Streams begin to flow in the next turn.
  await turn();
  return { connection, peer, received, closed, send: (message: unknown) => write(peer, message) };
};

/** Resolves when the connection has seen it. */
const write = async (peer: Duplex, message: unknown): Promise<void> => {
  peer.write(typeof message === 'string' ? message : JSON.stringify(message));
  await turn();
};

describe('RpcConnection', () => {
  it('matches replies with requests, in whatever order they come', async () => {
    const { connection, received, send } = await connect();
    const refusal = { code: 'ERR_OVSDB_REQUEST', method: 'a', error: 'unknown database', details: 'no' };
    const first = expect(connection.request('a', [1])).rejects.toMatchObject(refusal);
    const second = connection.request('b', [2]);
    await turn();
    expect(received).toEqual([
      { id: 1, method: 'a', params: [1] },
      { id: 2, method: 'b', params: [2] },
    ]);
    await send({ id: 2, result: 'two', error: null });
    await send({ id: 99, result: 'nobody asked', error: null });
    await send({ id: 1, result: null, error: { error: 'unknown database', details: 'no' } });
    await expect(second).resolves.toBe('two');
    await first;
  });

  it('answers an echo with its parameters, and refuses other requests', async () => {
    const { received, send } = await connect();
    await send({ id: 'e', method: 'echo', params: ['x', { y: 1 }] });
    await send({ id: 7, method: 'steal', params: [] });
    expect(received).toEqual([
      { id: 'e', result: ['x', { y: 1 }], error: null },
      { id: 7, result: null, error: 'unknown method' },
    ]);
  });

  it('handles a reply before the notification behind it', async () => {
    const order: string[] = [];
    const { connection, send } = await connect({ onNotification: (method) => order.push(method) });
    connection.call('monitor', [], () => order.push('reply'));
    await send('{"id":1,"result":{},"error":null}{"id":null,"method":"update","params":[]}');
    expect(order).toEqual(['reply', 'update']);
  });

  it.each([
    ['what is not JSON', '{"a":}'],
    ['a notification without parameters', '{"id":null,"method":"update"}'],
    ['what is not an object', '"text"'],
  ])('ends with %s', async (_, text) => {
    const { connection, send, closed } = await connect();
    const pending = expect(connection.request('a', [])).rejects.toMatchObject({ code: 'ERR_OVSDB_PROTOCOL' });
    await send(text);
    await pending;
    expect(closed).toHaveLength(1);
    expect(() => connection.call('b', [], () => {})).toThrow(
      expect.objectContaining({ code: 'ERR_OVSDB_NOT_CONNECTED' }),
    );
  });

  it('fails what is under way when the peer goes', async () => {
    const { connection, peer, closed } = await connect();
    const pending = expect(connection.request('a', [])).rejects.toMatchObject({ code: 'ERR_OVSDB_CONNECTION_LOST' });
    peer.end();
    await pending;
    connection.close();
    expect(closed).toHaveLength(1);
  });

  it.each(['ended', 'failed'])('ends when the stream had %s before it was given one', async (how) => {
    const [ours, peer] = duplexPair();
    ours.on('error', () => {});
    ours.destroy(how === 'failed' ? new Error('read ECONNRESET') : undefined);
    peer.on('error', () => {});
    await turn();
    const closed: unknown[] = [];
    const connection = new RpcConnection(ours, { probeIntervalMs: 0, onClose: (error) => closed.push(error) });
    await expect(connection.request('a', [])).rejects.toMatchObject({ code: 'ERR_OVSDB_CONNECTION_LOST' });
    expect(closed).toHaveLength(1);
  });

  it('asks a silent peer for an echo, and gives it up when that is silent, too', async () => {
    const clock = createFakeClock();
    const { received, closed, send } = await connect({ clock, probeIntervalMs: 1000 });
    clock.pass(999);
    expect(received).toEqual([]);
    clock.pass(1);
    await turn();
    expect(received).toEqual([{ id: 1, method: 'echo', params: [] }]);
    await send({ id: 1, result: [], error: null });
    clock.pass(1999);
    await turn();
    expect(received).toHaveLength(2);
    clock.pass(1000);
    expect(closed).toEqual([expect.objectContaining({ code: 'ERR_OVSDB_CONNECTION_LOST' })]);
  });

  it('takes any byte for a sign of life', async () => {
    const clock = createFakeClock();
    const { closed, send, received } = await connect({ clock, probeIntervalMs: 1000 });
    for (let step = 0; step < 20; step++) {
      clock.pass(900);
      await send(step === 0 ? '{"id":null,' : ' ');
    }
    expect([received, closed]).toEqual([[], []]);
  });

  it('reads what has come in the meantime before it gives up', async () => {
    const late: (() => void)[] = [];
    const clock = createFakeClock();
    const busy = {
      ...clock,
      schedule: (ms: number, run: () => void) => clock.schedule(ms, ms === 0 ? () => late.push(run) : run),
    };
    const { closed, send } = await connect({ clock: busy, probeIntervalMs: 1000 });
    clock.pass(2000);
    await send({ id: 1, result: [], error: null });
    for (const run of late) run();
    expect(closed).toEqual([]);
  });
});
