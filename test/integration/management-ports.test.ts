/** The host's ports on networks, in a real ovsdb-server as the agent keeps them; ovn-controller is played by the test. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Database } from '../../agent/databases/database.ts';
import { createVswitchReplica, INTERFACE_BY_NAME, type VswitchReplica } from '../../agent/databases/vswitch.ts';
import type { OpenVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import { TestServer } from '../../ovsdb/testing/server.ts';
import { formatRemote } from '../../ovsdb/wire/remote.ts';
import { workedCluster } from '../unit/golden/worked-cluster.ts';

const NAME = 'ovn-k8s-mp1';
const OWNER = 'host-network:blue';
let server: TestServer;
let database: Database<OpenVSwitch, VswitchReplica>;

beforeEach(async () => {
  server = await TestServer.create(['open-vswitch']);
  const remote = formatRemote(server.remote);
  database = new Database({ name: 'openvswitch', remote, replica: createVswitchReplica(), observe: () => undefined });
  database.connect();
  await database.replica.whenSynced();
  const bridge = { op: 'insert', table: 'Bridge', 'uuid-name': 'bridge', row: { name: 'br-int' } } as const;
  await database.session.transact([
    bridge,
    { op: 'insert', table: 'Open_vSwitch', row: { bridges: ['named-uuid', 'bridge'] } },
  ]);
  const cluster = workedCluster({ topology: 'layer3', mode: 'shared', family: 'dual' });
  cluster.render();
  const fragment = cluster.sinks.openvswitch.fragments.get(OWNER);
  if (fragment === undefined) throw new Error('nothing is wanted');
  database.desired.set(OWNER, fragment);
  database.reconcile();
});
afterEach(async () => {
  await database.close();
  await server[Symbol.asyncDispose]();
});

const whenBound = () =>
  database.replica.waitFor(
    'Interface',
    { index: INTERFACE_BY_NAME, key: NAME },
    ({ external_ids: ids }) => ids['iface-id'] !== undefined,
    AbortSignal.timeout(30_000),
  );

it('are made with what ovn-controller binds them by, and keep what it writes', async () => {
  expect(await whenBound()).toMatchObject({
    type: 'internal',
    mac: '0a:58:0a:c8:01:02',
    mtu_request: 1400,
    external_ids: { 'iface-id': 'k8s-blue_node1', 'k8s.ovn.org/network': 'blue' },
  });
  await database.reconciler.whenDone(OWNER, AbortSignal.timeout(30_000));
  const installed = ['map', [['ovn-installed', 'true']]] as const;
  await database.session.transact([
    {
      op: 'mutate',
      table: 'Interface',
      where: [['name', '==', NAME]],
      mutations: [
        ['external_ids', 'insert', installed],
        ['external_ids', 'delete', ['set', ['iface-id']]],
      ],
    },
  ]);
  expect((await whenBound()).external_ids).toMatchObject({ 'iface-id': 'k8s-blue_node1', 'ovn-installed': 'true' });
});

it('go with their network, and leave br-int', async () => {
  await whenBound();
  database.desired.delete(OWNER);
  await database.replica.waitFor(
    'Bridge',
    { index: 'name', key: 'br-int' },
    ({ ports }) => ports.length === 0,
    AbortSignal.timeout(30_000),
  );
});
