import { describe, expect, it, vi } from 'vitest';
import { networkCtMark } from '../../agent/model/registry/marks.ts';
import { RULE_PRIORITIES, vrfTable } from '../../agent/model/registry/routing.ts';
import type { DifferenceStatus, NetworkStatus, PodStatus } from '../../api/agent-status.ts';
import { POD_LINK_GROUP } from '../../api/pod-links.ts';
import { VRF_ALIAS } from '../../datapath/host/ownership.ts';
import { EGRESS_MISSING } from '../../datapath/netlink/frame-filter/types.ts';
import type { KernelOp } from '../../datapath/netlink/kernel/types.ts';
import type { Link } from '../../datapath/netlink/link/types.ts';
import { ALIAS_PREFIX } from '../../datapath/netlink/pod-interface/marks.ts';
import { route } from '../../datapath/netlink/route/types.ts';
import { parseCidr } from '../../net/cidr.ts';
import { parseNetworkId } from '../../net/ids.ts';
import type { Operation } from '../../ovsdb/transact/operation.ts';
import { type DoctorSources, doctor } from '../commands/doctor.ts';

const link = (name: string, more: Partial<Link>): Link => ({
  index: 1,
  name,
  kind: 'veth',
  mac: undefined,
  mtu: 1400,
  up: true,
  carrier: true,
  master: undefined,
  alias: undefined,
  group: 0,
  peer: undefined,
  addrGenMode: undefined,
  ...more,
});

const [LIVING, GONE] = [parseNetworkId(1), parseNetworkId(2)];
const table = (id: typeof LIVING) => vrfTable(id);
const dst = parseCidr('10.0.0.0/16');
const rule = (id: typeof LIVING, more = {}) => ({
  family: 4 as const,
  priority: RULE_PRIORITIES.network,
  fwmark: 0x1000 + id,
  table: table(id),
  protocol: 85,
  ...more,
});

const PORTS = [
  ['11111111-0000-0000-0000-000000000001', 'living', 'uid-here'],
  ['11111111-0000-0000-0000-000000000002', 'stale', 'uid-gone'],
] as const;

interface Done {
  readonly ops: KernelOp[];
  readonly transactions: Operation[];
  readonly flushed: number[];
}

const node = (more: Partial<DoctorSources> = {}): { sources: DoctorSources; done: Done } => {
  const done: Done = { ops: [], transactions: [], flushed: [] };
  const sources: DoctorSources = {
    agent: {
      networks: () => Promise.resolve([{ id: 0 }, { id: 1 }] as NetworkStatus[]),
      pods: () => Promise.resolve([{ uid: 'uid-here' }] as PodStatus[]),
      differences: () => Promise.resolve({ differences: [], unreadable: [], unsupported: [] }),
    },
    openvswitch: (operations) => {
      done.transactions.push(...operations.filter(({ op }) => op !== 'select'));
      return Promise.resolve(
        operations.map((operation) => ({ rows: operation.op === 'select' ? rowsOf(operation.table) : [] }) as never),
      );
    },
    netns: {
      links: () => [
        link('living', { group: POD_LINK_GROUP, alias: `${ALIAS_PREFIX}c1:eth0:uid-here` }),
        link('stale', { group: POD_LINK_GROUP, alias: `${ALIAS_PREFIX}c2:eth0:uid-gone` }),
        link('being-made', { group: POD_LINK_GROUP }),
        link('foreign', { alias: 'somebody:c3:eth0:uid-gone' }),
        link('red', { kind: 'vrf', vrfTable: table(LIVING), alias: VRF_ALIAS }),
        link('blue', { kind: 'vrf', vrfTable: table(GONE), alias: VRF_ALIAS }),
        link('storage', { kind: 'vrf', vrfTable: table(GONE) }),
        link('mine', { kind: 'vrf', vrfTable: 7 }),
      ],
      rules: () => [rule(LIVING), rule(GONE), rule(GONE, { protocol: 0 }), rule(GONE, { priority: 5 })],
      routes: ({ family }) =>
        family === 6 ? [] : [route({ dst, table: table(LIVING) }), route({ dst, table: table(GONE) }), route({ dst })],
      whyNoFilters: () => undefined,
      apply: (ops) => {
        done.ops.push(...ops);
        return [];
      },
    },
    northbound: () => Promise.resolve([]),
    southbound: () => Promise.resolve([]),
    controlSocket: (daemon, folder) => Promise.resolve(`${folder}/${daemon}.1.ctl`),
    runner: healthy(
      [LIVING, GONE].map((id) => `tcp,orig=(src=1.1.1.1),zone=64000,mark=${networkCtMark(id)}\n`).join(''),
    ),
    conntrack: {
      flushMark: (_, mark) => {
        done.flushed.push(mark);
        return Promise.resolve();
      },
    },
    ...more,
  };
  return { sources, done };
};

const ANSWERS: Readonly<Record<string, string>> = { status: 'Status: active\n', 'connection-status': 'connected\n' };

const healthy = (conntrack: string, answers = ANSWERS): DoctorSources['runner'] => ({
  run: ({ args }) =>
    Promise.resolve({
      stdout: args.includes('dpctl/dump-conntrack') ? conntrack : (answers[args.at(-1) ?? ''] ?? ''),
      stderr: '',
    }),
});

const rowsOf = (name: string) =>
  name === 'Interface'
    ? PORTS.map(([uuid, port, podUid]) => ({
        _uuid: ['uuid', uuid.replace(/^1/, '2')],
        name: port,
        external_ids: [
          'map',
          [
            ['ovn-udn/port', port],
            ['iface-id-ver', podUid],
            ['iface-id', `red_${port}`],
          ],
        ],
      }))
    : PORTS.map(([uuid]) => ({ _uuid: ['uuid', uuid], interfaces: ['uuid', uuid.replace(/^1/, '2')] }));

describe('doctor', () => {
  it('lists what pods and networks that are gone have left, and nothing else; nothing is changed', async () => {
    const { sources, done } = node();
    const { lines, exitStatus } = await doctor(sources, { fix: false });
    expect(exitStatus).toBe(1);
    expect(lines).toEqual([
      'left: OVS port stale (red_stale): the pod with UID uid-gone is not on this node',
      'left: link stale (eth0 of container c2): the pod with UID uid-gone is not on this node',
      'left: rule IPv4 2000: fwmark 0x1002 lookup 100002: no network has id 2',
      'left: route 10.0.0.0/16 of table 100002: no network has id 2',
      'left: VRF blue (table 100002): no network has id 2',
      'left: 1 connections with ct mark 0x5 in zone 64000: no network has id 2',
      'udnctl doctor --fix removes the leftovers',
    ]);
    expect(done).toEqual({ ops: [], transactions: [], flushed: [] });
  });

  it('removes it', async () => {
    const { sources, done } = node();
    const { lines, exitStatus } = await doctor(sources, { fix: true });
    expect(exitStatus).toBe(0);
    expect(lines.every((line) => line.startsWith('removed: '))).toBe(true);
    expect(done.flushed).toEqual([networkCtMark(GONE)]);
    expect(done.ops.map((op) => (op.op === 'link.delete' ? `${op.op} ${op.name}` : op.op))).toEqual([
      'link.delete stale',
      'rule.delete',
      'route.delete',
      'link.delete blue',
    ]);
    expect(JSON.stringify(done.transactions)).toContain(PORTS[1][0]);
    expect(JSON.stringify(done.transactions)).not.toContain(PORTS[0][0]);
  });

  const stale = (backend: DifferenceStatus['backend'], key: string, problem?: string): DifferenceStatus => ({
    backend,
    key,
    kind: 'unwanted',
    owners: [],
    ...(problem !== undefined && { problem }),
  });
  const nodeThatRemoves = (...differences: DifferenceStatus[]) => {
    const { agent } = node().sources;
    const report = { differences, unreadable: [], unsupported: [] };
    return node({ agent: { ...agent, differences: () => Promise.resolve(report) } }).sources;
  };

  it('lists what the agent is about to remove apart from what is left, and lists nothing twice', async () => {
    const differences = [stale('northbound', 'Logical_Switch/blue_n1'), stale('host', 'link blue')];
    const { lines, exitStatus } = await doctor(nodeThatRemoves(...differences), { fix: false });
    expect(lines.filter((line) => line.includes('blue'))).toEqual([
      'being removed: VRF blue (table 100002): no network has id 2',
      'being removed: northbound: Logical_Switch/blue_n1: it is not desired',
    ]);
    expect(exitStatus).toBe(1);
  });

  it('names what keeps networks apart and is missing, first', async () => {
    const missing: DifferenceStatus = {
      ...{ backend: 'nftables', key: 'chain udn-isolation', kind: 'missing', owners: ['host-isolation:zone'] },
    };
    const { lines, exitStatus } = await doctor(nodeThatRemoves(missing), { fix: false });
    expect(exitStatus).toBe(1);
    expect(lines[0]).toBe(
      'open: host isolation: nftables: chain udn-isolation: is missing; until then processes of the node reach pods of tenants',
    );
  });

  it('says when the kernel takes no frame filters', async () => {
    const { netns } = node().sources;
    const { sources } = node({ netns: { ...netns, whyNoFilters: () => EGRESS_MISSING } });
    const { lines, exitStatus } = await doctor(sources, { fix: false });
    expect(exitStatus).toBe(1);
    expect(lines[0]).toBe(`open: frame filters: kernel: ${EGRESS_MISSING}; until then CNI ADD fails`);
  });

  it('exits with 0 when nothing is left but what the agent is removing', async () => {
    const sources: DoctorSources = {
      ...nodeThatRemoves(stale('openflow', 'bucket br-ex 1 4')),
      openvswitch: () => Promise.resolve([]),
      netns: { links: () => [], rules: () => [], routes: () => [], apply: () => [], whyNoFilters: () => undefined },
      runner: healthy(''),
    };
    expect(await doctor(sources, { fix: false })).toMatchObject({
      exitStatus: 0,
      lines: [
        'being removed: openflow: bucket br-ex 1 4: it is not desired',
        'only leftovers that the agent is removing: run this again in a few seconds',
      ],
    });
  });

  it('what the agent has failed to remove is left, with the reason, and --fix can do no more', async () => {
    const sources = nodeThatRemoves(stale('nftables', 'set old', 'nft: no such file'));
    const { lines, exitStatus } = await doctor(sources, { fix: true });
    expect(exitStatus).toBe(1);
    expect(lines.at(-1)).toBe(
      'left: nftables: set old: it is not desired; the agent cannot remove it: nft: no such file',
    );
  });

  it('cannot decide without the agent, and removes nothing', async () => {
    const { agent } = node().sources;
    const { sources, done } = node({ agent: { ...agent, pods: () => Promise.reject(new Error('no agent')) } });
    await expect(doctor(sources, { fix: true })).rejects.toMatchObject({
      exitStatus: 2,
      message: expect.stringMatching(/^leftovers cannot be determined.*no agent$/),
    });
    expect(done.ops).toEqual([]);
  });

  it('says what it could not look at', async () => {
    const { sources } = node({ runner: { run: () => Promise.reject(new Error('ovs-vswitchd is away')) } });
    const { lines, exitStatus } = await doctor(sources, { fix: false });
    expect(exitStatus).toBe(2);
    expect(lines).toContain('cannot be inspected: conntrack: ovs-vswitchd is away');
  });

  const blindOf = async (more: Partial<DoctorSources>): Promise<string[]> => {
    const { lines, exitStatus } = await doctor(node(more).sources, { fix: false });
    expect(exitStatus).toBe(2);
    return lines.filter((line) => line.startsWith('cannot be inspected: '));
  };

  it('says that a daemon is not there, or does not do its work', async () => {
    const controlSocket: DoctorSources['controlSocket'] = (daemon, folder) =>
      Promise.resolve(daemon === 'ovn-northd' ? undefined : `${folder}/${daemon}.1.ctl`);
    const runner = healthy('', { ...ANSWERS, 'connection-status': 'not connected\n' });
    expect(await blindOf({ controlSocket, runner })).toEqual([
      'cannot be inspected: ovn-northd: it is not running: no control socket in /var/run/ovn',
      'cannot be inspected: ovn-controller: it answers: not connected',
    ]);
    const paused = healthy('', { ...ANSWERS, status: 'Status: paused\n' });
    expect(await blindOf({ runner: paused })).toEqual(['cannot be inspected: ovn-northd: it answers: Status: paused']);
  });

  it('says that a database cannot be reached', async () => {
    const northbound = () => Promise.reject(new Error('OVN_Northbound cannot be reached'));
    expect(await blindOf({ northbound })).toEqual([
      'cannot be inspected: the northbound database: OVN_Northbound cannot be reached',
    ]);
  });

  it('waits for nobody who hangs', async () => {
    vi.useFakeTimers();
    try {
      const hung = () => new Promise<never>(() => undefined);
      const agent = { ...node().sources.agent, differences: hung };
      const blind = blindOf({ agent, northbound: hung, southbound: hung, runner: { run: hung } });
      await vi.advanceTimersByTimeAsync(4_000);
      await vi.advanceTimersByTimeAsync(4_000);
      const what = ['conntrack', 'ovs-vswitchd', 'ovn-northd', 'ovn-controller', 'differences'];
      const databases = ['the northbound database', 'the southbound database'];
      expect((await blind).toSorted()).toEqual(
        [...what, ...databases].map((one) => `cannot be inspected: ${one}: no answer within 4 s`).toSorted(),
      );
    } finally {
      vi.useRealTimers();
    }
  });
});
