/** With a real ovsdb-server, and without ovs-vswitchd: `ovn-installed` is written by the test. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseInterfaceAddress } from '../../net/cidr.ts';
import { parseMac } from '../../net/mac.ts';
import type { OpenVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import { TestServer } from '../../ovsdb/testing/server.ts';
import type { Operation } from '../../ovsdb/transact/operation.ts';
import { formatRemote } from '../../ovsdb/wire/remote.ts';
import { Database } from '../databases/database.ts';
import { createVswitchReplica, type VswitchReplica } from '../databases/vswitch.ts';
import type { PortSpec } from './ovs-ports.ts';
import { BridgeMissingError, PortGoneError, VswitchPorts } from './vswitch-ports.ts';

let server: TestServer;
let database: Database<OpenVSwitch, VswitchReplica>;
let ports: VswitchPorts;
const signal = new AbortController().signal;

beforeEach(async () => {
  server = await TestServer.create(['open-vswitch']);
  const remote = formatRemote(server.remote);
  database = new Database({ name: 'openvswitch', remote, replica: createVswitchReplica(), observe: () => undefined });
  database.connect();
  await database.replica.whenSynced();
  // As in the agent: what is of ours in this database and no owner desires is removed.
  database.reconcile();
  ports = new VswitchPorts(database.session, database.replica);
});
afterEach(async () => {
  await database.close();
  await server[Symbol.asyncDispose]();
});

const transact = (...operations: Operation[]) => database.session.transact(operations);

const addBridge = async (): Promise<void> => {
  const bridge = { op: 'insert', table: 'Bridge', 'uuid-name': 'bridge', row: { name: 'br-int' } } as const;
  await transact(bridge, { op: 'insert', table: 'Open_vSwitch', row: { bridges: ['named-uuid', 'bridge'] } });
};

const spec = (name: string, over: Partial<PortSpec> = {}): PortSpec => ({
  name,
  logicalPort: `ns_${name}`,
  podUid: 'uid',
  sandbox: 'sandbox1',
  interfaceName: 'eth0',
  mac: parseMac('0a:58:0a:80:00:03'),
  addresses: [parseInterfaceAddress('10.128.0.3/23'), parseInterfaceAddress('fd00::3/64')],
  network: undefined,
  ...over,
});

const install = (name: string) =>
  transact({
    op: 'mutate',
    table: 'Interface',
    where: [['name', '==', name]],
    mutations: [['external_ids', 'insert', ['map', [['ovn-installed', 'true']]]]],
  });

const addForeign = (name: string, ids: readonly [string, string][]) =>
  transact(
    { op: 'insert', table: 'Interface', 'uuid-name': 'interface', row: { name, external_ids: ['map', ids] } },
    { op: 'insert', table: 'Port', 'uuid-name': 'port', row: { name, interfaces: ['named-uuid', 'interface'] } },
    {
      op: 'mutate',
      table: 'Bridge',
      where: [['name', '==', 'br-int']],
      mutations: [['ports', 'insert', ['named-uuid', 'port']]],
    },
  );

const portNames = async (): Promise<unknown[]> => {
  const [result] = await transact({ op: 'select', table: 'Port', where: [], columns: ['name'] });
  return (result?.rows ?? []).map((row) => row['name']).sort();
};

describe('ports of pods', () => {
  it('are plugged together, once, and unplugged', async () => {
    await addBridge();
    const [first, second] = [spec('a'), spec('b', { network: { name: 'red_net', nad: 'red/net' } })];
    await ports.plug([first, second], signal);
    await ports.plug([first, second], signal);
    expect(await portNames()).toEqual(['a', 'b']);
    expect(
      ports
        .ofSandbox('sandbox1')
        .map(({ name, logicalPort, podUid, isInstalled }) => [name, logicalPort, podUid, isInstalled])
        .sort(),
    ).toEqual([
      ['a', 'ns_a', 'uid', false],
      ['b', 'ns_b', 'uid', false],
    ]);
    expect(database.replica.findOne('Interface', 'name', 'b')?.external_ids).toMatchObject({
      attached_mac: '0a:58:0a:80:00:03',
      ip_addresses: '10.128.0.3/23,fd00::3/64',
      'k8s.ovn.org/network': 'red_net',
      'k8s.ovn.org/nad': 'red/net',
    });
    await ports.unplug(['a', 'b', 'c'], signal);
    await ports.unplug(['a', 'b'], signal);
    expect([await portNames(), ports.all()]).toEqual([[], []]);
  });

  it('that are given up while they are being plugged can be taken back', async () => {
    await addBridge();
    for (let round = 0; round < 50; round++) {
      const controller = new AbortController();
      const plugged = ports.plug([spec('a')], controller.signal);
      // Some rounds before the transaction is sent, most while it is under way.
      if (round % 5 > 0) await Promise.resolve();
      controller.abort(new Error('given up'));
      await plugged.catch(() => undefined);
      await ports.unplug(['a'], signal);
      expect(await portNames(), `round ${round}`).toEqual([]);
    }
  });

  it('stay though the reconciler of the same database wants none of them', async () => {
    await addBridge();
    await ports.plug([spec('a')], signal);
    database.reconciler.resync();
    await database.reconciler.whenIdle();
    expect(await portNames()).toEqual(['a']);
    expect(database.reconciler.problems()).toEqual([]);
  });

  it('of another sandbox of the same logical port make room', async () => {
    await addBridge();
    await ports.plug([spec('old', { logicalPort: 'ns_pod' })], signal);
    await ports.plug([spec('new', { logicalPort: 'ns_pod', sandbox: 'sandbox2' })], signal);
    expect(await portNames()).toEqual(['new']);
  });

  it('of others stay, whatever they claim; a name that is taken is an error', async () => {
    await addBridge();
    await addForeign('theirs', [
      ['sandbox', 'sandbox1'],
      ['iface-id', 'ns_pod'],
    ]);
    await ports.plug([spec('ours', { logicalPort: 'ns_pod' })], signal);
    await ports.unplug(['theirs'], signal);
    expect(await portNames()).toEqual(['ours', 'theirs']);
    expect(ports.ofSandbox('sandbox1').map(({ name }) => name)).toEqual(['ours']);
    await expect(ports.plug([spec('theirs')], signal)).rejects.toThrow(/theirs/);
  });

  it('need the integration bridge', async () => {
    expect(ports.isReady()).toBe(false);
    await expect(ports.plug([spec('a')], signal)).rejects.toThrow(BridgeMissingError);
    await addBridge();
    await ports.plug([spec('a')], signal);
    expect(ports.isReady()).toBe(true);
  });
});

describe('waiting for ovn-controller', () => {
  it('ends when all ports are installed', async () => {
    await addBridge();
    const desired = [spec('a'), spec('b')];
    await ports.plug(desired, signal);
    let done = false;
    const waiting = ports.untilInstalled(desired, signal).then(() => {
      done = true;
    });
    await install('a');
    await database.replica.waitFor(
      'Interface',
      { index: 'name', key: 'a' },
      ({ external_ids: ids }) => ids['ovn-installed'] === 'true',
    );
    expect(done).toBe(false);
    await install('b');
    await waiting;
    expect(ports.all().every(({ isInstalled }) => isInstalled)).toBe(true);
  });

  it('knows when ovs-vswitchd has opened the links', async () => {
    await addBridge();
    await ports.plug([spec('a'), spec('b')], signal);
    const number = (name: string, ofport: number) =>
      transact({ op: 'update', table: 'Interface', where: [['name', '==', name]], row: { ofport } });
    let done = false;
    const waiting = ports.untilOpened([spec('a'), spec('b')], signal).then(() => {
      done = true;
    });
    await number('a', 1);
    // It could not be opened.
    await number('b', -1);
    await database.replica.waitFor('Interface', { index: 'name', key: 'b' }, ({ ofport }) => ofport === -1);
    expect(done).toBe(false);
    await number('b', 2);
    await waiting;
  });

  it('ends when a port is taken away, and with the call', async () => {
    await addBridge();
    await ports.plug([spec('a'), spec('b')], signal);
    const waiting = expect(ports.untilInstalled([spec('a')], signal)).rejects.toThrow(PortGoneError);
    await ports.unplug(['a'], signal);
    await waiting;
    const call = new AbortController();
    const aborted = expect(ports.untilInstalled([spec('b')], call.signal)).rejects.toThrow(/closed the connection/);
    call.abort(new Error('the caller closed the connection'));
    await aborted;
  });
});

it('a change outlives the server', async () => {
  await addBridge();
  await ports.plug([spec('a')], signal);
  await server.kill();
  const changes = [ports.unplug(['a'], signal), ports.plug([spec('b')], signal)];
  await server.start();
  await Promise.all(changes);
  expect(await portNames()).toEqual(['b']);
});
