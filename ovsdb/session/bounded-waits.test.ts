/** What could wait for ever: every wait of a session is ended by something. */
import { type Duplex, duplexPair } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import { Replica } from '../replica/replica.ts';
import { memorySession } from '../testing/memory/client.ts';
import { MemoryDatabase } from '../testing/memory/database.ts';
import { MemoryServer } from '../testing/memory/server.ts';
import type { Dial } from '../wire/dial.ts';
import { isWaiting, NAME, newServer, serverDatabase, start, untilState } from './session.suite.ts';

/** Has what the server sends changed on its way. */
const tampering =
  (dial: Dial, change: (text: string) => string): Dial =>
  async (remote, signal) => {
    const far = await dial(remote, signal);
    const [near, client] = duplexPair();
    near.on('data', (chunk: Buffer) => far.write(chunk)).on('close', () => far.destroy());
    far.on('data', (chunk: Buffer) => near.write(change(chunk.toString()))).on('close', () => near.destroy());
    return client;
  };

describe('OvsdbSession', () => {
  it('ends whenever it is closed, between any two steps of a connection', async () => {
    for (let chunk = 1; chunk <= 4; chunk++) {
      for (let steps = 0; steps < 25; steps++) {
        const { server } = newServer();
        let chunks = 0;
        const closeLater = async (): Promise<void> => {
          for (let step = 0; step < steps; step++) await undefined;
          await session.close();
        };
        let closed: Promise<void> | undefined;
        const dial: Dial = async (remote, signal) => {
          const stream = await server.dial(remote, signal);
          return stream.on('data', () => {
            if (++chunks === chunk) closed = closeLater();
          });
        };
        const session = memorySession(server, NAME, { dial });
        session.mirror(new Replica({ model: ovnNorthbound, tables: { Logical_Switch: ['name'] } }));
        session.start();
        for (let turns = 0; turns < 20 && session.state.kind !== 'closed'; turns++) await new Promise(setImmediate);
        expect({ chunk, steps, state: session.state.kind }).toEqual({ chunk, steps, state: 'closed' });
        await closed;
      }
    }
  });

  it('tries again after a server has sent what cannot be read while it was asked whether it is fit', async () => {
    const server = new MemoryServer([new MemoryDatabase(ovnNorthbound), serverDatabase({ index: 1 })]);
    let isFirst = true;
    const garble = (text: string): string => {
      if (!isFirst || !text.includes('"initial":{')) return text;
      isFirst = false;
      return text.replace('"initial":{', '"initial":0,"x":{');
    };
    const { session } = start(server, { dial: tampering(server.dial, garble) });
    await expect(untilState(session, isWaiting)).resolves.toMatchObject({ error: { code: 'ERR_OVSDB_PROTOCOL' } });
    await session.whenConnected(AbortSignal.timeout(10_000));
  });

  it('makes a new connection when a monitor has no reply and what was asked after it has', async () => {
    const clock = createFakeClock();
    let ignored = 0;
    const { server } = newServer({ swallow: (method) => method === 'monitor_cond_since' && ignored++ === 0 });
    const { session, replica } = start(server, { clock });
    await session.whenConnected();
    for (let seconds = 0; seconds < 40 && !replica.synced; seconds++) await clock.advance(1_000);
    expect(replica.synced).toBe(true);
  });

  it('gives up dialling that comes to nothing, and closes a connection that comes of it too late', async () => {
    const clock = createFakeClock();
    const { server } = newServer();
    const late = Promise.withResolvers<Duplex>();
    const dials = [late.promise];
    const dial: Dial = (remote, signal) => dials.shift() ?? server.dial(remote, signal);
    const { session } = start(server, { clock, dial, connectTimeoutMs: 500, probeIntervalMs: 0 });
    const state = untilState(session, isWaiting);
    clock.pass(500);
    await expect(state).resolves.toMatchObject({ error: { code: 'ERR_OVSDB_TIMEOUT' } });
    const stream = await server.dial({ transport: 'unix', path: 'memory' }, new AbortController().signal);
    late.resolve(stream);
    await new Promise(setImmediate);
    expect(stream.destroyed).toBe(true);
    await clock.advance(10);
    expect(session.state.kind).toBe('connected');
  });
});
