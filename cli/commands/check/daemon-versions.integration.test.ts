/** Versions as real daemons write them. */
import { expect, it } from 'vitest';
import { startOvnZone } from '../../../agent/testing/ovn-zone.ts';
import { OvsdbSession } from '../../../ovsdb/session/session.ts';
import { TestServer } from '../../../ovsdb/testing/server.ts';
import { formatRemote, parseRemotes } from '../../../ovsdb/wire/remote.ts';
import { lazyDatabase } from '../../node/database.ts';
import { checkDaemonVersions, checkNoOwnDaemons } from './daemon-versions.ts';

it('ovn-northd has written its own, and what ovs-ctl would set is read', async () => {
  await using zone = await startOvnZone([]);
  await using server = await TestServer.create(['open-vswitch']);
  await using resources = new AsyncDisposableStack();
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: parseRemotes(zone.northboundRemote) });
  resources.defer(() => session.close());
  session.start();
  await session.whenConnected(AbortSignal.timeout(60_000));
  await zone.computed(session);
  const ovs = lazyDatabase('Open_vSwitch', formatRemote(server.remote));
  resources.defer(() => ovs.close());
  const databases = { openvswitch: ovs.transact, northbound: lazyDatabase('OVN_Northbound', zone.northboundRemote) };
  resources.defer(() => databases.northbound.close());
  const check = () =>
    checkDaemonVersions({ openvswitch: databases.openvswitch, northbound: databases.northbound.transact });

  await ovs.transact([{ op: 'insert', table: 'Open_vSwitch', row: {} }]);
  expect((await check()).map(({ result, what }) => [result, what])).toEqual([
    ['unknown', 'Open vSwitch, on this node'],
    ['ok', expect.stringMatching(/^OVN 25\.03\.\d+, on this node$/)],
  ]);
  await ovs.transact([{ op: 'update', table: 'Open_vSwitch', where: [], row: { ovs_version: '3.4.1' } }]);
  const [older] = await check();
  expect(older).toMatchObject({ result: 'failed', what: 'Open vSwitch 3.4.1, on this node' });
  expect(older?.message).toContain('older than 3.5');
});

it('with Open vSwitch and OVN in the cluster, those of the node must not run', async () => {
  const remotes = { Open_vSwitch: 'unix:/nowhere/db.sock', OVN_Northbound: 'unix:/nowhere/nb.sock' };
  expect(await checkNoOwnDaemons(remotes)).toEqual([
    { result: 'ok', what: 'no other Open vSwitch or OVN, on this node' },
  ]);
  await using server = await TestServer.create(['open-vswitch']);
  const own = { ...remotes, Open_vSwitch: formatRemote(server.remote) };
  const [running] = await checkNoOwnDaemons(own);
  await server.kill();
  expect(running?.result).toBe('failed');
  expect(running?.message).toBe('Open vSwitch runs here: stop and disable them, or install without OVN in the cluster');
  const [stopped] = await checkNoOwnDaemons(own);
  // It left its socket, and might be there.
  expect(stopped?.result).toBe('warning');
});
