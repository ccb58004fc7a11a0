/** Against a real ovsdb-server: what one gateway router learns is true for the others. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OvsdbSession } from '../../../ovsdb/session/session.ts';
import { TestServer } from '../../../ovsdb/testing/server.ts';
import type { Operation } from '../../../ovsdb/transact/operation.ts';
import { createNeighbourReplica, type NeighbourReplica } from '../../databases/neighbours.ts';
import { FactStore } from '../../model/fact-store.ts';
import { LOCAL } from '../../model/facts.ts';
import { followNeighbours } from './follow-neighbours.ts';

const DEFAULT = 'rtoe-GR_node1';
const OLD = '0a:00:00:00:00:01';
const NEW = '0a:00:00:00:00:02';

let resources: AsyncDisposableStack;
let server: TestServer;
let session: OvsdbSession;
let replica: NeighbourReplica;
let facts: FactStore;
const corrected = vi.fn();

beforeEach(async () => {
  resources = new AsyncDisposableStack();
  server = resources.use(await TestServer.create(['ovn-southbound']));
  session = new OvsdbSession({ database: 'OVN_Southbound', remotes: [server.remote] });
  resources.defer(() => session.close());
  replica = createNeighbourReplica();
  session.mirror(replica);
  session.start();
  await replica.whenSynced(AbortSignal.timeout(20_000));
  facts = new FactStore();
  corrected.mockReset();
});
afterEach(() => resources.disposeAsync());

const follow = (): void => {
  const onError = (error: unknown): void => expect.fail(String(error));
  resources.defer(followNeighbours({ node: 'node1', facts, replica, session, onCorrected: corrected, onError }));
};

/** As ovn-controller writes it. */
const learn = (ip: string, mac: string, ...ports: string[]): Promise<unknown> => {
  key += 1;
  return session.transact([
    { op: 'insert', table: 'Datapath_Binding', row: { tunnel_key: key }, 'uuid-name': 'datapath' },
    ...ports.map((port): Operation => {
      const row = { logical_port: port, ip, mac, datapath: ['named-uuid', 'datapath'] as const };
      return { op: 'insert', table: 'MAC_Binding', row };
    }),
  ]);
};
let key = 0;

const moves = (ip: string, mac: string, port: string): Promise<unknown> =>
  session.transact([
    {
      op: 'update',
      table: 'MAC_Binding',
      where: [
        ['ip', '==', ip],
        ['logical_port', '==', port],
      ],
      row: { mac },
    },
  ]);

const known = (ip: string): Record<string, string> =>
  Object.fromEntries(
    [...replica.rows('MAC_Binding')].filter((row) => row.ip === ip).map(({ logical_port: port, mac }) => [port, mac]),
  );

describe('neighbours that the default network’s gateway router knows', () => {
  it('are facts, as long as it knows them', async () => {
    follow();
    expect(facts.get('neighbours', LOCAL)).toEqual([]);
    await learn('fd00:30::1', OLD, DEFAULT);
    await learn('172.30.0.1', OLD, DEFAULT, 'rtoe-GR_blue_node1');
    await learn('172.30.0.9', OLD, 'rtoe-GR_blue_node1');
    expect(facts.get('neighbours', LOCAL)).toEqual([
      { ip: '172.30.0.1', mac: OLD },
      { ip: 'fd00:30::1', mac: OLD },
    ]);
    await moves('172.30.0.1', NEW, DEFAULT);
    expect(facts.get('neighbours', LOCAL)).toContainEqual({ ip: '172.30.0.1', mac: NEW });
    await session.transact([{ op: 'delete', table: 'MAC_Binding', where: [] }]);
    expect(facts.get('neighbours', LOCAL)).toEqual([]);
  });

  it('are what all gateway routers know when their MAC changes, and nobody else', async () => {
    follow();
    const tenants = Array.from({ length: 200 }, (_, index) => `rtoe-GR_n${index}_node1`);
    // The same address inside of a tenant's network is another host.
    const inside = 'rtos-blue_node1';
    await learn('172.30.0.1', OLD, DEFAULT, inside, ...tenants);
    await learn('172.30.0.2', OLD, DEFAULT, ...tenants);
    await moves('172.30.0.1', NEW, DEFAULT);
    const all = Object.fromEntries([DEFAULT, ...tenants].map((port) => [port, NEW]));
    await vi.waitFor(() => expect(known('172.30.0.1')).toEqual({ ...all, [inside]: OLD }));
    expect(new Set(Object.values(known('172.30.0.2')))).toEqual(new Set([OLD]));
    expect(corrected.mock.calls).toEqual([[{ ip: '172.30.0.1', mac: NEW, routers: 200 }]]);
  });

  it('win over what another one has learned, also before somebody looked', async () => {
    await learn('172.30.0.1', OLD, 'rtoe-GR_blue_node1');
    await learn('172.30.0.1', NEW, DEFAULT);
    follow();
    await vi.waitFor(() => expect(known('172.30.0.1')['rtoe-GR_blue_node1']).toBe(NEW));
    await learn('172.30.0.1', OLD, 'rtoe-GR_green_node1');
    await vi.waitFor(() => expect(known('172.30.0.1')['rtoe-GR_green_node1']).toBe(NEW));
  });

  it('leave those alone whom it does not know', async () => {
    follow();
    await learn('172.30.0.1', OLD, 'rtoe-GR_blue_node1');
    await learn('172.30.0.1', NEW, 'rtoe-GR_green_node1');
    await learn('172.30.0.2', NEW, DEFAULT);
    expect(known('172.30.0.1')).toEqual({ 'rtoe-GR_blue_node1': OLD, 'rtoe-GR_green_node1': NEW });
    expect(corrected).not.toHaveBeenCalled();
  });

  it('are corrected when the database is back', async () => {
    follow();
    await learn('172.30.0.1', OLD, DEFAULT, 'rtoe-GR_blue_node1');
    await server.restart();
    await replica.whenSynced(AbortSignal.timeout(20_000));
    await moves('172.30.0.1', NEW, DEFAULT);
    await vi.waitFor(() => expect(known('172.30.0.1')['rtoe-GR_blue_node1']).toBe(NEW));
  });
});
