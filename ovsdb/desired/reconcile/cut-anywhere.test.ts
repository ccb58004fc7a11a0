import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../base/testing/fake-clock.ts';
import { ovsdbServer } from '../../models/server.gen.ts';
import { map, ref, scalar, set } from '../../schema/column.ts';
import type { DatabaseModel } from '../../schema/model.ts';
import { memorySession, wholeReplica } from '../../testing/memory/client.ts';
import { type Cut, CutWire, type Direction } from '../../testing/memory/cut-wire.ts';
import { MemoryDatabase } from '../../testing/memory/database.ts';
import { MemoryServer } from '../../testing/memory/server.ts';
import type { Uuid } from '../../uuid.ts';
import { DesiredRows } from '../desired-rows.ts';
import { rowRef } from '../types.ts';
import { OvsdbReconciler } from './reconciler.ts';

interface Row {
  readonly _uuid: Uuid;
  readonly name: string;
  readonly external_ids: Readonly<Record<string, string>>;
}
type Small = { readonly Switch: Row & { readonly ports: readonly Uuid[] }; readonly Port: Row };

const columns = { name: scalar('string'), external_ids: map('string', 'string') };

/** Two tables: a conversation about them has about 4,000 bytes, and can be cut behind each of them. */
const small: DatabaseModel<Small> = {
  name: 'Small',
  version: '1.0.0',
  tables: {
    Switch: { isRoot: true, indexes: [['name']], columns: { ...columns, ports: set(ref('Port')) } },
    Port: { isRoot: false, indexes: [], columns },
  },
};

const PORTS = ['a', 'b'];

const newServer = (remembers: boolean) => {
  const database = new MemoryDatabase(small);
  const state = new MemoryDatabase(ovsdbServer);
  const row = { name: 'Small', model: 'clustered', connected: true, index: 1 };
  state.transact([{ op: 'insert', table: 'Database', row: row as never }]);
  return { database, server: new MemoryServer([database, state], { remembers }) };
};

/** A client that writes a switch and its ports by several transactions, and is at the beginning of it. */
const start = (cuts: readonly Cut[], remembers = false) => {
  const { database, server } = newServer(remembers);
  const wire = new CutWire(server.dial, cuts);
  const clock = createFakeClock();
  const session = memorySession(server, 'Small', { dial: wire.dial, clock, random: () => 0.5 });
  const replica = wholeReplica(small, 'key');
  const desired = new DesiredRows<Small>();
  const options = { desired, replica, session, ownerKey: 'key', maxOperations: 2 };
  const reconciler = new OvsdbReconciler<Small>({ ...options, clock, random: () => 0.5 });
  session.mirror(replica);
  session.start();
  reconciler.start();
  reconciler.allowPrune();
  desired.set('net', { rows: [{ table: 'Switch', key: 's', columns: { name: 's' } }] });
  for (const name of PORTS) {
    desired.set(name, {
      rows: [{ table: 'Port', key: name, columns: { name } }],
      members: [{ table: 'Switch', row: 's', column: 'ports', value: rowRef(name) }],
    });
  }
  return { database, wire, clock, session, replica, reconciler };
};

type World = ReturnType<typeof start>;

const isDone = ({ replica, reconciler }: World): boolean =>
  replica.synced && ['net', ...PORTS].every((owner) => reconciler.status(owner).kind === 'done');

/** Turns of the event loop without a byte, after which only a timer can go on. */
const QUIET_TURNS = 6;

/** Lets time pass only when nothing happens without it. The milliseconds that it took, at most two minutes. */
const untilDone = async (world: World): Promise<number> => {
  const { wire, clock } = world;
  for (let bytes = -1, quiet = 0; !isDone(world) && clock.monotonic() < 120_000; bytes = wire.bytes) {
    quiet = bytes === wire.bytes ? quiet + 1 : 0;
    if (quiet <= QUIET_TURNS) await turn();
    else if (!(await clock.next())) break;
    else quiet = 0;
  }
  return clock.monotonic();
};

const close = async ({ session, reconciler }: World): Promise<boolean> => {
  let isClosed = false;
  const closing = Promise.all([reconciler.stop(), session.close()]).then(() => {
    isClosed = true;
  });
  for (let turns = 0; !isClosed && turns < 20; turns++) await turn();
  if (isClosed) await closing;
  return isClosed;
};

const survive = async (cuts: readonly Cut[], remembers = false): Promise<CutWire> => {
  const world = start(cuts, remembers);
  const milliseconds = await untilDone(world);
  const { database, replica, reconciler, session } = world;
  const ports = database.rows('Port');
  const uuids = ports.map(({ _uuid }) => _uuid).sort();
  // One connection that falls silent is given up after two probes, and each of them is cut once.
  const isInTime = milliseconds <= 10_100 * Math.max(cuts.length, 1);
  expect({
    ...{ cuts, isInTime, problems: reconciler.problems(), state: session.state.kind },
    ports: ports.map(({ name }) => name).sort(),
    members: database.rows('Switch').map((row) => (row['ports'] as string[]).toSorted()),
    seen: [...replica.rows('Port')].map(({ _uuid }) => _uuid).sort(),
    isClosed: await close(world),
  }).toEqual({
    ...{ cuts, isInTime: true, problems: [], state: 'connected' },
    ports: PORTS,
    members: [uuids],
    seen: uuids,
    isClosed: true,
  });
  return world.wire;
};

const FATES = ['end', 'reset', 'silence'] as const;
const DIRECTIONS: readonly Direction[] = ['to server', 'to client'];

/** Every byte, and how many there are. */
const places = async function* (): AsyncGenerator<{
  direction: Direction;
  after: number;
  total: number;
  isEnd: boolean;
}> {
  const { ends } = await survive([]);
  for (const direction of DIRECTIONS) {
    const total = ends[direction].at(-1) ?? 0;
    for (let after = 0; after <= total; after++)
      yield { direction, after, total, isEnd: ends[direction].includes(after) };
  }
};

describe('OvsdbReconciler with a connection that is cut', () => {
  it('comes to what is desired, behind whatever byte that is, and is closed at once', async () => {
    let count = 0;
    // A third of the bytes, each time another, and the ends of all messages.
    const which = Math.floor(Math.random() * 3);
    for await (const { direction, after, isEnd } of places()) {
      if (!isEnd && after % 3 !== which) continue;
      const fates = isEnd ? FATES : FATES.slice(Math.floor(after / 3) % 3).slice(0, 1);
      for (const fate of fates) {
        await survive([{ direction, after, fate }], after % 2 === 0);
        count++;
      }
    }
    expect(count).toBeGreaterThan(1_300);
  }, 240_000);

  it('comes to what is desired when the next connection is cut, too', async () => {
    for await (const { direction, after, total } of places()) {
      if (after % 11 !== 0) continue;
      const [first = 'end', second = 'end'] = [FATES[after % 3], FATES[(after + direction.length) % 2]];
      const next: Cut = { direction: DIRECTIONS[after % 2] ?? direction, after: (after * 31) % total, fate: second };
      await survive([{ direction, after, fate: first }, next], after % 4 < 2);
    }
  });

  it('is closed behind whatever byte, at once', async () => {
    for await (const { direction, after, isEnd } of places()) {
      if (after % 5 !== 0 && !isEnd) continue;
      const closed = Promise.withResolvers<boolean>();
      const world: World = start([{ direction, after, fate: () => closed.resolve(close(world)) }]);
      await untilDone(world);
      expect({ direction, after, isClosed: await closed.promise }).toEqual({ direction, after, isClosed: true });
    }
  });
});
