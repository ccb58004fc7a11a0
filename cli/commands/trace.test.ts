import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NetworkStatus, NodeStatus, PodStatus } from '../../api/agent-status.ts';
import type { PoliciesStatus } from '../../api/policy-status.ts';
import type { Command } from '../../datapath/exec/types.ts';
import { parseListing } from '../../datapath/nftables/parse-listing.ts';
import type { Transact } from '../flows/datapaths.ts';
import { type TraceOptions, type TraceSources, trace } from './trace.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', 'trace', 'testdata', path), 'utf8');

const node: NodeStatus = {
  name: 'n1',
  gateway: { mode: 'shared', bridge: 'br-ex', uplink: 'eth0', mac: '02:00:00:00:00:01', addresses: [], nextHops: [] },
};
const network: NetworkStatus = {
  name: 'default',
  id: 0,
  nads: [],
  topology: 'layer3',
  role: 'default',
  mtu: 1400,
  subnets: ['10.100.0.0/16/24'],
  nodeSubnets: ['10.100.0.0/24'],
  pods: 2,
  state: 'ready',
};
const pod = (name: string, address: string, port: string, hostInterface: string): PodStatus => ({
  namespace: 'red',
  name,
  uid: name,
  state: 'ready',
  attachments: [
    {
      network: 'default',
      nad: 'default',
      role: 'primary',
      interface: 'eth0',
      addresses: [`${address}/24`],
      mac: '0a:58:0a:64:00:03',
      port,
      hostInterface,
      installed: true,
    },
  ],
});

/** The ports of `testdata/local.txt`: what comes in by 2 goes out by 4. */
const PORTS = '  br-int:\n    poda 2/6: (system)\n    podb 4/7: (system)\n    ovn-k8s-mp0 1/5: (tap)\n';
const TABLE = `table inet ovn-udn {
\tset udn-pod-default-ips-v4 {
\t\ttype ipv4_addr
\t\telements = { 10.100.0.4 }
\t}
\tchain udn-isolation {
\t\ttype filter hook output priority 0; policy accept;
\t\tip daddr @udn-pod-default-ips-v4 drop
\t}
}
`;
/** The management port, and nothing else. */
const northbound: Transact = (operations) =>
  Promise.resolve(
    operations.map((operation) => {
      const isPort = operation.op === 'select' && operation.table === 'Logical_Switch_Port';
      const rows = isPort
        ? [{ name: 'k8s-n1', addresses: '0a:58:0a:64:00:02 10.100.0.2', external_ids: ['map', []] }]
        : [];
      return { rows } as never;
    }),
  );
const empty: Transact = (operations) => Promise.resolve(operations.map(() => ({ rows: [] }) as never));

/** A rule for red/b, which a policy isolates, and one that isolates red/a. */
const policies: PoliciesStatus = {
  isRead: true,
  policies: [],
  rules: [
    {
      ...{ id: 'r1', network: 'default', direction: 'Ingress', family: 4, peers: 'pods app=a of namespace red' },
      ...{ ports: 'TCP 80', targets: ['red/b'], policies: ['red/also', 'red/web'], targetSet: `a${'1'.repeat(32)}` },
      state: 'ready',
    },
  ],
  pods: ['red/a', 'red/b'].map((name) => ({
    ...{ pod: name, network: 'default', ruleCount: 0, state: 'ready' },
    directions: [
      { direction: 'Ingress', policies: [`${name}-in`], denyGroup: `a${'2'.repeat(32)}` },
      { direction: 'Egress', policies: [`${name}-out`], denyGroup: `a${'3'.repeat(32)}` },
    ],
  })),
};

const sources = (ovnTrace: string | Error, asked: Command[] = []): TraceSources => ({
  agent: {
    node: () => Promise.resolve(node),
    networks: () => Promise.resolve([network]),
    pods: () => Promise.resolve([pod('a', '10.100.0.3', 'red.a', 'poda'), pod('b', '10.100.0.4', 'red.b', 'podb')]),
    policies: () => Promise.resolve(policies),
    services: () => Promise.resolve([]),
  },
  northbound,
  southbound: empty,
  runner: {
    run: (command) => {
      asked.push(command);
      if (command.file === 'ovn-trace') {
        return ovnTrace instanceof Error ? Promise.reject(ovnTrace) : Promise.resolve({ stdout: ovnTrace, stderr: '' });
      }
      const stdout = command.args[0] === 'dpif/show' ? PORTS : read('local.txt');
      return Promise.resolve({ stdout, stderr: '' });
    },
  },
  hostTable: () => Promise.resolve(parseListing(TABLE)),
});

const OPTIONS: TraceOptions = {
  from: ['pod', 'red/a'],
  to: '10.100.0.4',
  network: undefined,
  family: undefined,
  port: 80,
  protocol: 'tcp',
  established: false,
  sbRemote: 'unix:/run/sb.sock',
  verbose: false,
  raw: false,
};

const lines = async (ovnTrace: string | Error, more: Partial<TraceOptions> = {}) =>
  (await trace(sources(ovnTrace), { ...OPTIONS, ...more })).lines;

describe('trace', () => {
  it('puts what OVN says beside what Open vSwitch says', async () => {
    const printed = await lines(read('ovn-trace/local.txt'));
    expect(printed.slice(0, 2)).toEqual([
      'delivered to red/b on this node, network default',
      'ovn-trace agrees: it comes to red/b, port red.b',
    ]);
    expect(printed.slice(-3)).toEqual([
      '    ACL (priority 1001): reg0[7] == 1 && (inport == "red.a")',
      '    conntrack: est|trk',
      '    to port red.b',
    ]);
  });

  it('says where they differ', async () =>
    expect((await lines(read('ovn-trace/portsec.txt')))[1]).toBe(
      'ovn-trace disagrees: dropped by stage ls_in_apply_port_sec of switch s1: reg0[15] == 1',
    ));

  it('says all the rest when ovn-trace does not answer', async () =>
    expect((await lines(new Error('it was not found'))).slice(0, 2)).toEqual([
      'delivered to red/b on this node, network default',
      'ovn-trace failed: it was not found',
    ]));

  it.each([
    ['$', '1', 'allowed from pods app=a of namespace red, TCP 80, by NetworkPolicy red/also, red/web'],
    ['@', '2', 'red/b is isolated for Ingress by NetworkPolicy red/b-in'],
    ['@', '3', 'red/a is isolated for Egress by NetworkPolicy red/a-out'],
  ])('names the policies of an ACL: %s%s', async (sign, digit, text) => {
    const name = `${sign}a${digit.repeat(32)}`;
    const said = read('ovn-trace/local.txt').replaceAll('(inport == "red.a")', `(ip4.dst == ${name})`);
    const { lines: printed, data } = await trace(sources(said), OPTIONS);
    const at = printed.findIndex((line) => line.includes(name));
    expect(printed[at + 1]?.trim()).toBe(`→ ${text}`);
    expect(data).toMatchObject({ policies: [text] });
  });

  it('has every stage when it is asked for them', async () =>
    expect(await lines(read('ovn-trace/local.txt'), { verbose: true })).toContain(
      '    28 ls_in_l2_lkup: eth.dst == 0a:58:0a:64:00:04 (priority 50)',
    ));

  it('asks about the same packet', async () => {
    const asked: Command[] = [];
    await trace(sources(read('ovn-trace/local.txt'), asked), { ...OPTIONS, established: true });
    const { args = [] } = asked.find(({ file }) => file === 'ovn-trace') ?? {};
    expect(args.slice(0, 3)).toEqual(['--db=unix:/run/sb.sock', '--no-leader-only', '--ct=est']);
    expect(args.at(-1)).toBe(
      'inport == "red.a" && eth.src == 0a:58:0a:64:00:03 && eth.dst == 0a:58:0a:64:00:04 && ip4.src == 10.100.0.3 && ip4.dst == 10.100.0.4 && ip.ttl == 64 && tcp && tcp.src == 40000 && tcp.dst == 80',
    );
  });

  it('from the host says first what host isolation does', async () => {
    const { data, lines: printed } = await trace(sources(read('ovn-trace/local.txt')), { ...OPTIONS, from: ['host'] });
    expect(printed.slice(0, 2)).toEqual([
      'dropped by host isolation (nft chain udn-isolation), from any process: the cgroup of the kubelet is unknown',
      'otherwise: delivered to red/b on this node, network default',
    ]);
    expect(data).toMatchObject({ result: 'dropped', openVswitch: { kind: 'delivered' }, logical: { agrees: true } });
  });

  it('from the host says that it is not known when nftables do not answer', async () => {
    const silent = { ...sources(''), hostTable: () => Promise.reject(new Error('no nft')) };
    expect((await trace(silent, { ...OPTIONS, from: ['host'] })).lines[1]).toBe(
      'nftables cannot be read: host isolation may drop the packet: no nft',
    );
  });
});
