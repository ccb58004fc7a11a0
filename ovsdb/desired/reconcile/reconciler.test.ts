import { describe, expect, it } from 'vitest';
import { type OpenVSwitch, openVSwitch } from '../../models/open-vswitch.gen.ts';
import { ovnNorthbound } from '../../models/ovn-northbound.gen.ts';
import type { Operation } from '../../transact/operation.ts';
import { type DesiredFragment, foreignRef, rowRef } from '../types.ts';
import { type Fragment, KEY, names, pod, SWITCH, startWorld } from './world.suite.ts';

const foreignSwitch = (port: string): Operation[] => [
  { op: 'insert', table: 'Logical_Switch_Port', row: { name: port }, 'uuid-name': 'p' },
  { op: 'insert', table: 'Logical_Switch', row: { name: 'foreign', ports: ['set', [['named-uuid', 'p']]] } },
];

describe('OvsdbReconciler', () => {
  it('writes what owners want, in one transaction, and nothing the second time', async () => {
    const { database, desired, reconciler } = await startWorld(ovnNorthbound);
    desired.set('net', SWITCH);
    desired.set('pod/a', pod('a'));
    desired.set('pod/b', pod('b'));
    expect(reconciler.status('pod/a').kind).toBe('pending');
    await Promise.all(['net', 'pod/a', 'pod/b'].map((owner) => reconciler.whenDone(owner)));
    expect(names(database, 'Logical_Switch_Port')).toEqual(['a', 'b']);
    expect(database.rows('Logical_Switch')[0]?.['ports']).toHaveLength(2);
    expect(database.rows('Logical_Switch')[0]?.['external_ids']).toEqual({ [KEY]: 's' });
    expect(database.transactions).toBe(1);
    desired.set('pod/a', pod('a'));
    reconciler.resync();
    await reconciler.whenIdle();
    expect(database.transactions).toBe(1);
    expect(reconciler.counts).toMatchObject({ transactions: 1, driftRepairs: 0 });
  });

  it('removes what an owner no longer wants, and tells when it is gone', async () => {
    const { database, desired, reconciler } = await startWorld(ovnNorthbound);
    desired.set('net', SWITCH);
    desired.set('pod/a', pod('a'));
    await reconciler.whenDone('pod/a');
    desired.delete('pod/a');
    expect(reconciler.status('pod/a').kind).toBe('pending');
    await reconciler.whenDone('pod/a');
    expect(names(database, 'Logical_Switch_Port')).toEqual([]);
    expect(names(database, 'Logical_Switch')).toEqual(['s']);
  });

  it('repairs what somebody else removes or changes', async () => {
    const { database, desired, reconciler, events } = await startWorld(ovnNorthbound);
    desired.set('net', SWITCH);
    desired.set('pod/a', pod('a'));
    await reconciler.whenIdle();
    database.transact([{ op: 'delete', table: 'Logical_Switch', where: [] }]);
    await new Promise(setImmediate);
    await reconciler.whenIdle();
    expect(names(database, 'Logical_Switch_Port')).toEqual(['a']);
    database.transact([{ op: 'update', table: 'Logical_Switch_Port', where: [], row: { addresses: 'other' } }]);
    await new Promise(setImmediate);
    await reconciler.whenIdle();
    expect(database.rows('Logical_Switch_Port')[0]?.['addresses']).toEqual(['a']);
    expect(reconciler.counts.driftRepairs).toBeGreaterThanOrEqual(3);
    expect(events.filter(({ kind }) => kind === 'drift')).toContainEqual(
      expect.objectContaining({ unit: { kind: 'row', table: 'Logical_Switch_Port', key: 'a' }, owners: ['pod/a'] }),
    );
  });

  it('reports a foreign row in the way, goes on with the rest, and writes ours when it is gone', async () => {
    const { database, desired, reconciler } = await startWorld(ovnNorthbound);
    database.transact(foreignSwitch('a'));
    desired.set('net', SWITCH);
    desired.set('pod/a', pod('a'));
    desired.set('pod/b', pod('b'));
    await reconciler.whenDone('pod/b');
    await expect(reconciler.whenDone('pod/a')).rejects.toMatchObject({ code: 'ERR_OVSDB_CONFLICT', owner: 'pod/a' });
    expect(reconciler.status('pod/a')).toMatchObject({ kind: 'failed', code: 'ERR_OVSDB_CONFLICT' });
    const problem = reconciler.status('pod/a').message;
    expect([...reconciler.desired()]).toContainEqual({ key: 'a', owners: ['pod/a'], problem });
    expect([...reconciler.desired()]).toContainEqual({ key: 'b', owners: ['pod/b'], problem: undefined });
    expect(reconciler.differences()).toContainEqual(
      expect.objectContaining({ key: 'a', kind: 'missing', owners: ['pod/a'], problem }),
    );
    database.transact([{ op: 'delete', table: 'Logical_Switch', where: [['name', '==', 'foreign']] }]);
    await new Promise(setImmediate);
    await reconciler.whenIdle();
    expect(reconciler.status('pod/a')).toEqual({ kind: 'done' });
    expect(reconciler.counts).toMatchObject({ conflicts: 1, driftRepairs: 0 });
  });

  it('lets the owner win whose name sorts first, and falls back to the other', async () => {
    const { database, desired, reconciler } = await startWorld(ovnNorthbound);
    const withConfig = (value: string): Fragment => ({
      rows: [{ table: 'Logical_Switch', key: 's', columns: { name: 's', other_config: { by: value } } }],
    });
    const config = () => database.rows('Logical_Switch').map(({ other_config }) => other_config);
    desired.set('b', withConfig('b'));
    await reconciler.whenDone('b');
    desired.set('a', withConfig('a'));
    await reconciler.whenDone('a');
    expect(config()).toEqual([{ by: 'a' }]);
    expect(reconciler.status('b')).toMatchObject({ kind: 'failed', code: 'ERR_OVSDB_SHADOWED' });
    desired.delete('a');
    await reconciler.whenDone('a');
    expect(config()).toEqual([{ by: 'b' }]);
    expect(reconciler.status('b')).toEqual({ kind: 'done' });
    expect(database.transactions).toBe(3);
  });

  it('keeps transactions small, and what one owner wants together', async () => {
    const { desired, reconciler, events } = await startWorld(ovnNorthbound, { maxOperations: 10 });
    desired.set('net', SWITCH);
    for (let index = 0; index < 30; index++) desired.set(`pod/${index}`, pod(`p${index}`));
    desired.set('large', {
      rows: Array.from({ length: 25 }, (_, index) => ({
        table: 'Address_Set' as const,
        key: `as${index}`,
        columns: { name: `as${index}` },
      })),
    });
    await reconciler.whenIdle();
    const sizes = events.flatMap((event) => (event.kind === 'committed' ? [event.operations] : []));
    expect(Math.max(...sizes.filter((size) => size !== 25))).toBeLessThanOrEqual(10);
    expect(sizes).toContain(25);
    expect(reconciler.problems()).toEqual([]);
  });

  it('removes what an earlier run has left only when it is allowed to', async () => {
    const { database, desired, reconciler } = await startWorld(ovnNorthbound);
    const mark = ['map', [[KEY, 'old']]] as const;
    const acl = { action: 'drop', direction: 'to-lport', match: '1', priority: 1, external_ids: mark };
    database.transact([
      { op: 'insert', table: 'Address_Set', row: { name: 'old', external_ids: mark } },
      { op: 'insert', table: 'ACL', row: acl, 'uuid-name': 'acl' },
      { op: 'insert', table: 'Port_Group', row: { name: 'foreign', acls: ['set', [['named-uuid', 'acl']]] } },
    ]);
    desired.set('net', SWITCH);
    await reconciler.whenIdle();
    expect(names(database, 'Address_Set')).toEqual(['old']);
    reconciler.allowPrune();
    await reconciler.whenIdle();
    expect(names(database, 'Address_Set')).toEqual([]);
    expect(database.rows('ACL')).toEqual([]);
    expect(names(database, 'Port_Group')).toEqual(['foreign']);
    expect(names(database, 'Logical_Switch')).toEqual(['s']);
  });

  it('takes a row from where an earlier run had put it, when it is allowed to, and leaves what is not ours there', async () => {
    const { database, desired, reconciler } = await startWorld(ovnNorthbound);
    const marked = (key: string) => ({ name: key, external_ids: ['map', [[KEY, key]]] }) as const;
    const ports = [
      'set',
      [
        ['named-uuid', 'ours'],
        ['named-uuid', 'theirs'],
      ],
    ] as const;
    database.transact([
      { op: 'insert', table: 'Logical_Switch_Port', row: marked('a'), 'uuid-name': 'ours' },
      { op: 'insert', table: 'Logical_Switch_Port', row: { name: 'theirs' }, 'uuid-name': 'theirs' },
      { op: 'insert', table: 'Logical_Switch', row: { ...marked('s'), ports } },
      { op: 'insert', table: 'Port_Group', row: { ...marked('pg'), ports } },
    ]);
    desired.set('net', { rows: [...(SWITCH.rows ?? []), { table: 'Port_Group', key: 'pg', columns: { name: 'pg' } }] });
    desired.set('pod/a', pod('a'));
    await reconciler.whenIdle();
    expect(database.rows('Port_Group')[0]?.['ports']).toHaveLength(2);
    reconciler.allowPrune();
    await reconciler.whenIdle();
    const theirs = database.rows('Logical_Switch_Port').find(({ name }) => name === 'theirs')?._uuid;
    expect(database.rows('Port_Group')[0]?.['ports']).toEqual([theirs]);
    expect(database.rows('Logical_Switch')[0]?.['ports']).toHaveLength(2);
  });

  it('takes a row from where it does not belong that others have marked before it was wanted', async () => {
    const { database, desired, reconciler, replica } = await startWorld(ovnNorthbound);
    database.transact([
      { op: 'insert', table: 'Logical_Switch_Port', row: { name: 'a' }, 'uuid-name': 'p' },
      { op: 'insert', table: 'Logical_Switch', row: { name: 'foreign', ports: ['set', [['named-uuid', 'p']]] } },
    ]);
    reconciler.allowPrune();
    desired.set('net', SWITCH);
    await reconciler.whenDone('net');
    const stop = replica.onUpdate(() => {
      stop();
      desired.set('pod/a', pod('a'));
    });
    const external_ids = ['map', [[KEY, 'a']]] as const;
    database.transact([{ op: 'update', table: 'Logical_Switch_Port', where: [], row: { external_ids } }]);
    await replica.waitFor('Logical_Switch_Port', { index: 'name', key: 'a' }, (row) => row.external_ids[KEY] === 'a');
    await reconciler.whenIdle();
    const ports = database.rows('Logical_Switch').map((row) => [row['name'], (row['ports'] as unknown[]).length]);
    expect(ports.sort()).toEqual([
      ['foreign', 0],
      ['s', 1],
    ]);
  });

  it('leaves a row where it is when another owner wants it there from now on', async () => {
    const { database, desired, reconciler } = await startWorld(ovnNorthbound);
    reconciler.allowPrune();
    desired.set('net', SWITCH);
    desired.set('pod/old', pod('a'));
    await reconciler.whenIdle();
    const before = { rows: database.rows('Logical_Switch'), transactions: database.transactions };
    desired.delete('pod/old');
    desired.set('pod/new', pod('a'));
    await reconciler.whenDone('pod/new');
    await reconciler.whenIdle();
    expect(database.rows('Logical_Switch')).toEqual(before.rows);
    expect(database.transactions).toBe(before.transactions);
  });

  it('writes nothing while it is paused', async () => {
    const { database, desired, reconciler } = await startWorld(ovnNorthbound);
    reconciler.setPaused(true);
    desired.set('net', SWITCH);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(database.transactions).toBe(0);
    expect(reconciler.status('net').kind).toBe('pending');
    reconciler.setPaused(false);
    await reconciler.whenDone('net');
    expect(database.transactions).toBe(1);
  });

  it('attaches rows to a row that is not ours as soon as that is there', async () => {
    const { database, desired, reconciler } = await startWorld(openVSwitch);
    const root: Operation = { op: 'insert', table: 'Open_vSwitch', row: {} };
    const port: DesiredFragment<OpenVSwitch> = {
      rows: [
        { table: 'Port', key: 'port', columns: { name: 'eth0', interfaces: [rowRef('interface')] } },
        { table: 'Interface', key: 'interface', columns: { name: 'eth0', type: 'internal', mtu_request: 1400 } },
      ],
      members: [
        { table: 'Bridge', row: foreignRef('Bridge', { name: 'br-int' }), column: 'ports', value: rowRef('port') },
      ],
      patches: [{ table: 'Open_vSwitch', entries: { external_ids: { 'ovn-encap-ip': '10.0.0.1', old: null } } }],
    };
    desired.set('cni', port);
    await reconciler.whenIdle();
    expect(reconciler.status('cni').kind).toBe('waiting');
    database.transact([root]);
    const bridge = (): Operation[] => [
      { op: 'insert', table: 'Bridge', row: { name: 'br-int' }, 'uuid-name': 'b' },
      {
        op: 'mutate',
        table: 'Open_vSwitch',
        where: [],
        mutations: [['bridges', 'insert', ['set', [['named-uuid', 'b']]]]],
      },
    ];
    database.transact(bridge());
    await reconciler.whenDone('cni');
    expect(names(database, 'Interface')).toEqual(['eth0']);
    expect(database.rows('Open_vSwitch')[0]?.['external_ids']).toEqual({ 'ovn-encap-ip': '10.0.0.1' });
    database.transact([{ op: 'update', table: 'Open_vSwitch', where: [], row: { bridges: ['set', []] } }]);
    await new Promise(setImmediate);
    await reconciler.whenIdle();
    expect(names(database, 'Port')).toEqual([]);
    database.transact(bridge());
    await reconciler.whenDone('cni');
    expect(names(database, 'Port')).toEqual(['eth0']);
  });

  it('replaces a row of which a column that cannot be changed has to be different', async () => {
    const { database, desired, reconciler } = await startWorld(openVSwitch);
    database.transact([
      { op: 'insert', table: 'Bridge', row: { name: 'br-int' }, 'uuid-name': 'b' },
      { op: 'insert', table: 'Open_vSwitch', row: { bridges: ['set', [['named-uuid', 'b']]] } },
    ]);
    const port = (name: string): DesiredFragment<OpenVSwitch> => ({
      rows: [
        { table: 'Port', key: 'port', columns: { name, interfaces: [rowRef('interface')] } },
        { table: 'Interface', key: 'interface', columns: { name } },
      ],
      members: [
        { table: 'Bridge', row: foreignRef('Bridge', { name: 'br-int' }), column: 'ports', value: rowRef('port') },
      ],
    });
    desired.set('cni', port('a'));
    await reconciler.whenDone('cni');
    desired.set('cni', port('b'));
    await reconciler.whenDone('cni');
    expect([names(database, 'Port'), names(database, 'Interface')]).toEqual([['b'], ['b']]);
    expect(database.rows('Bridge')[0]?.['ports']).toHaveLength(1);
  });
});
