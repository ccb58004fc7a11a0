/** `udn-agent cleanup` leaves nothing of ours on the node, and nothing else away. Needs root and `make build`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startCluster } from './support/cluster.ts';
import { plantForeign, readForeign } from './support/foreign.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './support/manifests.ts';
import { idsOf, type NodeState, readNodeState, rowsOf } from './support/node-state.ts';

const NODE = 'node-1';
const PODS = ['red/a', 'green/a', 'plain/a'];
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startCluster({ name: 'test-cleanup' });
  const objects = await sandbox.objects();
  await objects.apply([
    namespace('red'),
    layer3('red', 'net', ['10.60.0.0/16/24', 'fd00:60::/48/64']),
    namespace('green'),
    layer2('green', 'net', ['10.61.0.0/16', 'fd00:61::/64']),
    plainNamespace('plain'),
    ...PODS.map((key) => pod(key.split('/')[0] ?? '', 'a', NODE)),
    pod('red', 'b', 'node-2'),
  ]);
  await Promise.all([...PODS, 'red/b'].map((key) => objects.wait('pod', key, 'ready')));
});
afterAll(() => sandbox?.down());

const cleanup = (...flags: string[]): ReturnType<Sandbox['node']> =>
  sandbox.node(NODE, ['udn-agent', 'cleanup', ...flags]);

const MARKS = ['ovn-udn/key', 'ovn-udn/port'];

/** What carries our marks, as sentences. */
const oursOn = ({ northbound, openvswitch, links }: NodeState): string[] => [
  ...[...northbound, ...openvswitch].flatMap(([table, rows]) =>
    rows.filter((row) => MARKS.some((mark) => idsOf(row)[mark] !== undefined)).map((row) => `${table} ${row['name']}`),
  ),
  ...links.filter(({ alias }) => alias?.startsWith('ovn-udn:') === true).map(({ name }) => `link ${name}`),
];

const chassis = async (): Promise<string> =>
  (await sandbox.node(NODE, ['ovn-sbctl', '--bare', '--columns=hostname', 'list', 'Chassis'])).stdout;

const settings = async (): Promise<string> =>
  (await sandbox.node(NODE, ['ovs-vsctl', 'get', 'Open_vSwitch', '.', 'external_ids'])).stdout;

/** Without MTUs: that of an internal port follows those of the bridge's other ports, ovs-vswitchd.conf.db(5) "mtu_request". */
const foreignThings = async (): Promise<unknown> =>
  JSON.parse(
    JSON.stringify(await readForeign(sandbox, NODE), (key, value: unknown) => (key === 'mtu' ? undefined : value)),
  );

const tenantFlows = async (): Promise<number> => {
  const { stdout } = await sandbox.node(NODE, ['ovs-ofctl', 'dump-flows', 'br-int']);
  // Source and destination addresses of tenants and of the default network.
  return stdout.split('\n').filter((line) => /0a:58:|nw_(src|dst)=10\./.test(line)).length;
};

describe('udn-agent cleanup', () => {
  it('refuses while an agent runs, and changes nothing', async () => {
    const before = oursOn(await readNodeState(sandbox, NODE));
    await expect(cleanup()).rejects.toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/an agent is running on this node .* stop it first/),
    });
    expect(oursOn(await readNodeState(sandbox, NODE))).toEqual(before);
  });

  it('takes everything of ours away, and nothing else; repeating it is no error', async () => {
    await sandbox.node(NODE, ['ovn-nbctl', 'ls-add', 'foreign-base']);
    await plantForeign(sandbox, NODE, 'foreign-base');
    const foreign = await foreignThings();
    expect(oursOn(await readNodeState(sandbox, NODE))).toEqual(
      expect.arrayContaining([
        'Logical_Switch red_net_node-1',
        'Logical_Switch_Port green.net_green_a',
        expect.stringMatching(/^Port /),
        expect.stringMatching(/^link /),
      ]),
    );
    expect(await tenantFlows()).toBeGreaterThan(0);
    // An agent that is stopped like this repairs nothing; its socket still accepts, so another one is named.
    await sandbox.kill(NODE, 'agent', 'SIGSTOP');
    for (const _ of ['once', 'again']) {
      const { stdout } = await cleanup('--status-socket', '/run/ovn-udn/none.sock');
      expect(stdout).toContain('"what":"northbound rows","msg":"removed"');
      const state = await readNodeState(sandbox, NODE);
      expect(oursOn(state)).toEqual([]);
      expect(rowsOf(state.northbound, 'NB_Global').map((row) => row['name'])).toEqual(['']);
      expect(await tenantFlows()).toBe(0);
      expect(await chassis()).not.toContain('node-2');
      expect(await settings()).not.toMatch(/ovn-(?!bridge-datapath)|hostname/);
      expect((await sandbox.node(NODE, ['sh', '-c', 'ls /opt/cni/bin /etc/cni/net.d'])).stdout).not.toContain('ovn-k');
      expect(await foreignThings()).toEqual(foreign);
    }
  });

  it('an agent that starts after it programs everything again', async () => {
    await sandbox.kill(NODE, 'agent', 'SIGKILL');
    const objects = await sandbox.objects();
    await objects.delete([pod('red', 'a', NODE)]);
    await objects.apply([pod('red', 'c', NODE)]);
    await objects.wait('pod', 'red/c', 'ready');
    await eventually(async () => {
      await sandbox.exec('red/c', ['curl', '-sfm2', `http://${await addressOf('red/b')}:8080/hostname`]);
    });
  });
});

const addressOf = async (key: string): Promise<string> => {
  const { stdout } = await sandbox.exec(key, ['ip', '-j', '-4', 'addr', 'show', 'ovn-udn1']);
  return JSON.parse(stdout)[0].addr_info[0].local;
};
