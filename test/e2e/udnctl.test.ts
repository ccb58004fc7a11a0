/** udnctl says what is so on a node: of pods, of packets, of leftovers. Needs root and `make build`. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseNodeNetworkReport } from '../../api/node-network-report.ts';
import { hasId } from '../../net/id-ranges.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { dashboardExpressions } from '../../tools/dashboard.ts';
import { namesIn } from '../unit/monitoring/promql-names.ts';
import { agentMetrics } from './support/cluster/agent-metrics.ts';
import { applyAndWait, readPod, useCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, pod } from './support/cluster/manifests.ts';
import { CONFINED, confinedUdnctl, type Said, udnctl } from './support/cluster/udnctl.ts';
import { addressesOf, addressOfFamily } from './support/packets/packets.ts';

const NODE = 'node-1';
const cluster = useCluster({ name: 'test-udnctl' });

const MANIFESTS = [
  namespace('red'),
  layer3('red', 'net', ['10.91.0.0/16/24', 'fd00:91::/48/64']),
  namespace('green'),
  layer2('green', 'net', ['10.92.0.0/16', 'fd00:92::/64']),
  pod('red', 'a', NODE),
  pod('red', 'b', NODE),
  pod('red', 'c', 'node-2'),
  pod('green', 'a', NODE),
  pod('green', 'b', NODE),
  pod('green', 'down', NODE),
  // The same addresses as red.
  namespace('blue'),
  layer3('blue', 'net', ['10.91.0.0/16/24', 'fd00:91::/48/64']),
  pod('blue', 'a', NODE),
  pod('blue', 'c', 'node-2'),
];

beforeAll(() => applyAndWait(cluster(), MANIFESTS));

const ask = (...args: readonly string[]): Promise<Said> => udnctl(cluster(), NODE, ...args);

const explanation = z.object({
  ok: z.boolean(),
  checks: z.array(z.object({ what: z.string(), state: z.enum(['ok', 'missing', 'unknown']), found: z.string() })),
});

const explainPod = async (key: string) => {
  const { stdout, status } = await ask('explain', 'pod', key, '-o', 'json');
  const { ok, checks } = explanation.parse(JSON.parse(stdout));
  return { ok, status, missing: checks.filter(({ state }) => state === 'missing').map(({ what }) => what), checks };
};

describe('explain', () => {
  it('finds all that a pod has, up to its own network namespace', async () => {
    const { ok, status, missing, checks } = await explainPod('red/a');
    expect({ ok, status, missing }).toEqual({ ok: true, status: 0, missing: [] });
    expect(checks.map(({ what }) => what)).toContain('red_net: routes');
    expect(checks.filter(({ state }) => state === 'unknown')).toEqual([]);
  });

  it('finds a link that is down; the agent sets up the end on the node', async () => {
    const down = ['green_net: OVS interface', 'green_net: routes'];
    await cluster().exec('green/down', ['ip', 'link', 'set', 'ovn-udn1', 'down']);
    await eventually(async () =>
      expect((await explainPod('green/down')).missing).toEqual(expect.arrayContaining(down)),
    );
    const port = await portOf('red/a', 'red_net');
    const link = async () => (await cluster().node(NODE, ['ip', '-o', 'link', 'show', port])).stdout;
    await cluster().node(NODE, ['ip', 'link', 'set', port, 'down']);
    await eventually(async () => expect(await link()).toMatch(/[<,]UP[,>]/));
    for (const address of addressesOf(await readPod(cluster(), 'red/c'), 'primary'))
      await eventually(() => cluster().exec('red/a', ['ping', '-c1', '-W1', address]));
    expect((await explainPod('red/a')).missing).toEqual([]);
  });

  it('finds what somebody took away, inside of the pod and in Open vSwitch', async () => {
    const address = addressOfFamily(await readPod(cluster(), 'red/b'), 4);
    await cluster().exec('red/b', ['ip', 'address', 'del', `${address}/24`, 'dev', 'ovn-udn1']);
    expect(await explainPod('red/b')).toMatchObject({
      status: 1,
      missing: ['red_net: addresses', 'red_net: routes'],
    });
    await cluster().exec('red/b', ['ip', 'address', 'add', `${address}/24`, 'dev', 'ovn-udn1']);
    const port = await portOf('green/a', 'green_net');
    await cluster().node(NODE, ['ovs-vsctl', 'remove', 'Interface', port, 'external_ids', 'iface-id']);
    await eventually(async () => {
      const { status, missing } = await explainPod('green/a');
      expect(status).toBe(1);
      expect(missing).toContain('green_net: OVS interface');
    });
  });

  it('of a pod of another node says where to ask', async () =>
    expect(await explainPod('red/c')).toMatchObject({ status: 1, missing: ['agent'] }));
});

const pods = z.array(
  z.object({
    namespace: z.string(),
    name: z.string(),
    attachments: z.array(z.object({ network: z.string(), hostInterface: z.string() })),
  }),
);

/** The OVS port of a pod on a network. */
const portOf = async (key: string, network: string): Promise<string> => {
  const { stdout } = await ask('pods', '-o', 'json');
  const found = pods.parse(JSON.parse(stdout)).find((one) => `${one.namespace}/${one.name}` === key);
  return found?.attachments.find((one) => one.network === network)?.hostInterface ?? '';
};

describe('capture', () => {
  const text = async (...command: readonly string[]): Promise<string> => (await cluster().node(NODE, command)).stdout;

  /** @param work while it captures, until it ends */
  const captureOf = async (key: string, folder: string, work: () => Promise<void>) => {
    const command = ['sh', '-c', 'exec udnctl capture "$0" --duration 60s --output "$1" 2>"$1.err"', key, folder];
    const captured = cluster().node(NODE, command);
    const pid = await eventually(async () => {
      const found = /capturing at 6 hops .*\(process (\d+)\)/.exec(await text('cat', `${folder}.err`))?.[1];
      if (found === undefined) throw new Error('it does not capture yet');
      return found;
    }, 30_000);
    await work();
    await cluster().node(NODE, ['udnctl', 'capture', '--end', pid]);
    return (await captured).stdout;
  };

  it('has the packets of a pod at each hop, and none of another tenant with the same addresses', async () => {
    const own = addressOfFamily(await readPod(cluster(), 'blue/a'), 4);
    const keys = ['red/a', 'red/b'];
    const addresses = await Promise.all(keys.map(async (key) => addressOfFamily(await readPod(cluster(), key), 4)));
    const key = keys[addresses.indexOf(own)] ?? '';
    const destination = addressOfFamily(await readPod(cluster(), 'red/c'), 4);
    expect(addressOfFamily(await readPod(cluster(), 'blue/c'), 4)).toBe(destination);
    const ping = (from: string, size: number) =>
      cluster().exec(from, ['ping', '-c', '2', '-i', '0.2', '-s', `${size}`, destination]);
    const table = await captureOf(key, '/tmp/capture', async () => {
      await ping('blue/a', 300);
      await ping(key, 200);
    });
    expect(table).toMatch(/^uplink +eth0 +[1-9]/m);
    expect(table).toMatch(/^br-int +its ports to other bridges are patch ports/m);
    const packetsAt = async (hop: string): Promise<string[]> =>
      (await text('sh', '-c', 'tcpdump -nr /tmp/capture/*-"$0"-*.pcap', hop))
        .split('\n')
        .flatMap((line) => /(?:IP [0-9.]+ > [0-9.]+: )ICMP echo .*/.exec(line)?.[0].replace(/, id \d+/, '') ?? []);
    const expected = [1, 2].flatMap((seq) => [
      `IP ${own} > ${destination}: ICMP echo request, seq ${seq}, length 208`,
      `IP ${destination} > ${own}: ICMP echo reply, seq ${seq}, length 208`,
    ]);
    expect(await packetsAt('pod-ovn-udn1')).toEqual(expected);
    expect(await packetsAt('uplink')).toEqual(expected);
    expect(await packetsAt('pod-eth0')).toEqual([]);
    // The files are root's, and no program is left.
    expect(await text('sh', '-c', 'stat -c %a /tmp/capture/*.pcap | sort -u; pgrep -c tcpdump || true')).toBe(
      '600\n0\n',
    );
  });

  it('leaves nothing where it captures nothing', async () => {
    const bad = await ask('capture', 'red/a', '--filter', 'nonsense and', '--output', '/tmp/capture-bad');
    expect(bad).toMatchObject({ status: 2, stderr: expect.stringMatching(/^udnctl: --filter: .*syntax error/) });
    expect(await ask('capture', 'red/c')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is not on node'),
    });
    expect(await text('sh', '-c', 'ls -d /tmp/capture-bad /tmp/udn-capture* || true')).toBe('');
  });
});

describe('trace', () => {
  const logical = z.object({ kind: z.string(), agrees: z.boolean() });
  const traced = z.object({
    result: z.string(),
    message: z.string(),
    logical: logical.optional(),
    raw: z.string().optional(),
  });
  const trace = async (...args: readonly string[]) =>
    traced.parse(JSON.parse((await ask('trace', ...args, '-o', 'json')).stdout));

  it.each([['4'], ['6']])('says that a packet arrives on this node, IPv%s', async (family) =>
    expect(await trace('--from', 'pod', 'red/a', '--to', 'red/b', '--ip-family', family)).toEqual({
      result: 'delivered',
      message: 'delivered to red/b on this node, network red_net',
      logical: { kind: 'port', agrees: true },
    }),
  );

  it('of a connection that is there already, too', async () =>
    expect(await trace('--from', 'pod', 'red/a', '--to', 'red/b', '--established')).toMatchObject({
      result: 'delivered',
    }));

  it('says that a packet goes to another node', async () => {
    const destination = addressOfFamily(await readPod(cluster(), 'red/c'), 4);
    expect(await trace('--from', 'pod', 'red/a', '--to', destination, '--proto', 'icmp')).toMatchObject({
      result: 'tunnel',
      logical: { kind: 'remote', agrees: true },
    });
  });

  it('says what drops a packet between tenants, and has the raw output', async () => {
    const {
      result,
      message,
      raw,
      logical: byOvn,
    } = await trace(...['--from', 'pod', 'red/a', '--to', 'green/b', '--network', 'default', '--raw']);
    expect(result).toBe('dropped');
    expect(message).toMatch(/^dropped by br-int table [0-9]+ priority [0-9]+: an ACL of switch node-1 /);
    expect(byOvn).toEqual({ kind: 'dropped', agrees: true });
    expect(raw).toMatch(/^Flow: dp_hash=0x1,tcp,/);
  });

  it('says what host isolation drops before it comes to Open vSwitch, and what it lets pass', async () => {
    expect(await trace('--from', 'host', '--to', 'red/a')).toMatchObject({
      result: 'dropped',
      message: expect.stringMatching(/^dropped by host isolation \(nft chain udn-isolation\)/),
      logical: { kind: 'port', agrees: true },
    });
    expect(await trace('--from', 'host', '--to', 'red/a', '--network', 'red/net')).toMatchObject({
      message: 'dropped by host isolation (nft chain udn-management-isolation), from any process',
    });
  });
});

describe('flows', () => {
  it('of a network are counted for each of its switches and routers', async () => {
    const { stdout } = await ask('flows', '--network', 'red/net', '-o', 'json');
    const { datapaths, flows } = z
      .object({
        datapaths: z.array(z.object({ name: z.string() })),
        flows: z.array(z.object({ datapath: z.string() })),
      })
      .parse(JSON.parse(stdout));
    const used = new Set(flows.map(({ datapath }) => datapath));
    expect(datapaths.length).toBeGreaterThan(1);
    expect(datapaths.filter(({ name }) => !used.has(name))).toEqual([]);
  });
});

describe('doctor', () => {
  const stale = async (): Promise<void> => {
    const ids = ['ovn-udn/port=stale', 'iface-id=gone_pod', 'iface-id-ver=nobody'].map((id) => `external_ids:${id}`);
    await cluster().node(NODE, [
      ...['ovs-vsctl', 'add-port', 'br-int', 'stale', '--', 'set', 'Interface', 'stale', 'type=internal'],
      ...ids,
      ...['--', 'add-port', 'br-int', 'foreign', '--', 'set', 'Interface', 'foreign', 'type=internal'],
    ]);
  };

  it('lists the port of a pod that is gone, removes it, and leaves what is not ours', async () => {
    await stale();
    const dry = await ask('doctor');
    expect(dry.stdout).toContain('left: OVS port stale (gone_pod): the pod with UID nobody is not on this node');
    expect(dry.status).toBe(1);
    expect((await ask('doctor', '--fix')).stdout).toContain('removed: OVS port stale');
    expect(await ask('doctor')).toEqual({
      stdout: 'no leftovers of deleted networks and pods\n',
      stderr: '',
      status: 0,
    });
    const { stdout } = await cluster().node(NODE, ['ovs-vsctl', 'list-ports', 'br-int']);
    expect(stdout.split('\n')).toContain('foreign');
    expect(stdout.split('\n')).not.toContain('stale');
  });
});

describe('where no process of the node is seen, as in the agent’s pod, which has no hostPID', () => {
  const confined = (...argv: readonly string[]) => cluster().node(NODE, [...CONFINED, ...argv]);

  it('ovs-appctl finds ovs-vswitchd by the name of its control socket only', async () => {
    await expect(confined('ovs-appctl', 'version')).rejects.toThrow(/pid|not.*running|No such process/i);
    const { stdout } = await confined(
      'sh',
      '-c',
      'ovs-appctl --target /var/run/openvswitch/ovs-vswitchd.*.ctl version',
    );
    expect(stdout).toContain('ovs-vswitchd');
  });

  it.each([
    ['doctor'],
    ['diff'],
    ['explain', 'pod', 'red/a'],
    ['trace', '--from', 'pod', 'red/a', '--to', 'red/b'],
    ['trace', '--from', 'pod', 'red/a', '--to', 'red/b', '--established'],
  ])('udnctl %s', async (...args) => {
    const there = await confinedUdnctl(cluster(), NODE, ...args);
    expect(there).toEqual(await ask(...args));
    expect(there.status).toBe(0);
  });

  it('udnctl flows', async () => {
    const { stdout, status } = await confinedUdnctl(cluster(), NODE, 'flows', '--network', 'red/net');
    expect(status).toBe(0);
    expect(stdout).toContain('red_net');
  });
});

describe('what cannot be seen by comparing', () => {
  const daemon = (signal: 'STOP' | 'CONT', pidfile: string) =>
    cluster().node(NODE, ['sh', '-c', `kill -${signal} "$(cat /var/run/${pidfile})"`]);

  it.each([
    ['ovn-controller', 'ovn/ovn-controller.pid'],
    ['ovn-northd', 'ovn/ovn-northd.pid'],
    ['the northbound database', 'ovn/ovnnb_db.pid'],
  ])('doctor says that %s hangs', async (what, pidfile) => {
    await daemon('STOP', pidfile);
    try {
      const { stdout, status } = await ask('doctor');
      expect(stdout).toContain(`cannot be inspected: ${what}: `);
      expect(status).toBe(2);
    } finally {
      await daemon('CONT', pidfile);
    }
    await eventually(async () => expect((await ask('doctor')).status).toBe(0));
  });

  it('a frame filter lets nothing pass for long, and takes no other MAC for a locked pod’s', async () => {
    const table = async () => (await cluster().node(NODE, ['nft', 'list', 'table', 'netdev', 'ovn-udn-ports'])).stdout;
    const links = [...(await table()).matchAll(/chain to-([0-9a-f]{13}\S*) /g)].map(([, link = '']) => link);
    const [link = ''] = links;
    await cluster().node(NODE, ['nft', `chain netdev ovn-udn-ports to-${link} { policy accept; }`]);
    await cluster().node(NODE, ['nft', 'add element netdev ovn-udn-ports locked-pods { 0a:58:00:00:00:99 }']);
    const isWrong = (text: string): boolean => /policy accept|0a:58:00:00:00:99/.test(text);
    expect(links.length).toBeGreaterThan(3);
    await eventually(async () => expect(isWrong(await table())).toBe(false), 25_000);
    await eventually(async () => expect((await ask('diff')).stdout).not.toContain('frame-filter'));
  });
});

it('diff finds nothing once everything is programmed', () =>
  eventually(async () =>
    expect(await ask('diff')).toMatchObject({ stdout: expect.stringMatching(/^no difference\n/), status: 0 }),
  ));

describe('metrics of a running agent', () => {
  it('have all that alerts and the dashboard ask of agents', async () => {
    const families = new Set(
      [...(await agentMetrics(cluster(), NODE)).matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name),
    );
    const { expressions } = ruleNames.parse(parse(readFileSync('daemonset/monitoring/rules.yaml', 'utf8')));
    const asked = [...expressions, ...dashboardExpressions()]
      .flatMap((expression) => namesIn(expression).metrics)
      .filter((name) => name.startsWith('udn_agent_'));
    expect(new Set(asked).size).toBeGreaterThan(10);
    const hasFamily = (name: string) => families.has(name) || families.has(name.replace(/_(?:bucket|sum|count)$/, ''));
    expect(asked.filter((name) => !hasFamily(name))).toEqual([]);
  });
});

const ruleNames = z
  .object({ spec: z.object({ groups: z.array(z.object({ rules: z.array(z.object({ expr: z.string() })) })) }) })
  .transform(({ spec }) => ({ expressions: spec.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)) }));

describe('reports of what nodes have', () => {
  const reportOf = async (node: string) =>
    parseNodeNetworkReport(await (await cluster().objects()).get('nodenetworkreport', node));

  it('say that a network is there', async () => {
    const udn = z.object({ status: z.object({ networkID: z.number() }) });
    const { networkID } = udn.parse(await (await cluster().objects()).get('udn', 'red/net')).status;
    for (const node of [NODE, 'node-2']) {
      await eventually(async () => {
        const { status, metadata } = await reportOf(node);
        expect([hasId(status.ids.ready, networkID), status.networks.failed, status.exceptions]).toEqual([true, 0, []]);
        expect(metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: node }]);
      });
    }
  });

  it('say why a node cannot make one, as long as it cannot', async () => {
    const port = 'rtos-blocked_net_node-1';
    const foreign = ['lr-add', 'foreign', '--', 'lrp-add', 'foreign', port, '0a:00:00:00:00:01', '192.0.2.1/24'];
    await cluster().node(NODE, ['ovn-nbctl', ...foreign]);
    const network = layer3('blocked', 'net', ['10.93.0.0/16/24']);
    await (await cluster().objects()).apply([namespace('blocked'), network]);
    await eventually(async () =>
      expect((await reportOf(NODE)).status.exceptions).toMatchObject([
        { network: 'blocked_net', state: 'Failed', message: expect.stringContaining(port) },
      ]),
    );
    await eventually(async () => expect((await reportOf('node-2')).status.exceptions).toEqual([]));
    await cluster().node(NODE, ['ovn-nbctl', 'lr-del', 'foreign']);
    await eventually(async () => expect((await reportOf(NODE)).status.exceptions).toEqual([]));
    await (await cluster().objects()).delete([network]);
  });
});
