import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DesiredRows } from '../desired/desired-rows.ts';
import { managedReplica } from '../desired/managed-replica.ts';
import { OvsdbReconciler } from '../desired/reconcile/reconciler.ts';
import { type OvnNorthbound, ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import type { Unsupported } from '../schema/support.ts';
import { schemaPath } from '../testing/schemas.ts';
import { TestServer } from '../testing/server.ts';
import { RpcConnection } from '../wire/connection.ts';
import { dialer } from '../wire/dial.ts';
import { OvsdbSession } from './session.ts';

interface Schema {
  tables: Record<string, { columns: Record<string, unknown> }>;
}

const TABLES = { Logical_Switch: ['name', 'other_config', 'external_ids'], Sampling_App: 'all' } as const;

/** ovsdb-server(7), "Convert". */
const convert = async (server: TestServer, schema: unknown): Promise<void> => {
  const stream = await dialer({})(server.remote, AbortSignal.timeout(10_000));
  const connection = new RpcConnection(stream);
  await connection.request('convert', ['OVN_Northbound', schema]);
  connection.close();
};

it('follows a server whose schema is converted while it runs, and writes what it could not before', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ovsdb-schema-'));
  const text = await readFile(schemaPath('ovn-northbound'), 'utf8');
  const old = JSON.parse(text) as Schema;
  delete old.tables['Sampling_App'];
  delete old.tables['Logical_Switch']?.columns['other_config'];
  const path = join(folder, 'old.ovsschema');
  await writeFile(path, JSON.stringify(old));
  await using server = await TestServer.create([{ path }]);
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: [server.remote] });
  const replica = managedReplica({ model: ovnNorthbound, tables: TABLES, ownerKey: 'k' });
  const desired = new DesiredRows<OvnNorthbound>();
  const reconciler = new OvsdbReconciler({ desired, replica, session, ownerKey: 'k' });
  try {
    const unsupported: Unsupported[] = [];
    replica.onUnsupported((what) => unsupported.push(what));
    session.mirror(replica);
    session.start();
    reconciler.start();
    desired.set('net', {
      rows: [
        { table: 'Logical_Switch', key: 's', columns: { name: 's', other_config: { a: 'b' } } },
        { table: 'Sampling_App', key: 'app', columns: { id: 1, type: 'drop' } },
      ],
    });
    await reconciler.whenDone('net', AbortSignal.timeout(10_000));
    expect(unsupported).toEqual([{ table: 'Logical_Switch', column: 'other_config' }, { table: 'Sampling_App' }]);

    await convert(server, JSON.parse(text));
    const written = ({ other_config }: { other_config: Readonly<Record<string, string>> }) => other_config['a'] === 'b';
    await replica.waitFor('Logical_Switch', { index: 'ovsdb:owner', key: 's' }, written, AbortSignal.timeout(10_000));
    await reconciler.whenDone('net', AbortSignal.timeout(10_000));
    expect(replica.size('Sampling_App')).toBe(1);

    await convert(server, old);
    const [row] = replica.rows('Logical_Switch');
    await replica.waitUntilGone('Sampling_App', { index: 'type', key: 'drop' }, AbortSignal.timeout(10_000));
    desired.set('net', {
      rows: [{ table: 'Logical_Switch', key: 's', columns: { name: 'renamed', other_config: { a: 'c' } } }],
    });
    await reconciler.whenDone('net', AbortSignal.timeout(10_000));
    expect(replica.get('Logical_Switch', row?._uuid as never)?.name).toBe('renamed');
    expect(unsupported).toHaveLength(2);
  } finally {
    await reconciler.stop();
    await session.close();
    await rm(folder, { recursive: true, force: true });
  }
});
