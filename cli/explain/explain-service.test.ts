import { describe, expect, it } from 'vitest';
import type { DesiredStatus, DifferenceStatus, ProblemStatus, ServiceStatus } from '../../api/agent-status.ts';
import { emptyTable, type SetState, type TableState } from '../../datapath/nftables/table-state.ts';
import { explain } from '../commands/explain.ts';
import type { Row } from '../node/wire-values.ts';
import type { ExplainSources } from './sources.ts';
import { memoryTables } from './testing/memory-tables.ts';

const NAME = 'red_net_Service_red/web_TCP_cluster';
const KEY = `Load_Balancer/${NAME}`;
const GROUP = 'red_net_clusterLBGroup';
const PORT = { name: 'http', protocol: 'TCP', port: 8080 };

const service: ServiceStatus = {
  ...{
    namespace: 'red',
    name: 'web',
    network: 'red_net',
    clusterIps: ['10.96.0.7'],
    otherIps: [],
    refused: ['10.9.9.9'],
  },
  ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
  slices: [
    {
      ...{ name: 'web-1', madeFor: 'default', family: 4, counts: false, ports: [PORT], terminating: [] },
      ready: [{ ip: '10.128.0.5' }],
    },
    {
      ...{ name: 'web-2', madeFor: 'primary', network: 'red_net', family: 4, counts: true },
      ports: [PORT, { name: 'old', protocol: 'TCP', port: 81 }],
      ready: [{ ip: '10.70.0.5', node: 'n1' }, { ip: '10.9.9.9' }],
      terminating: [{ ip: '10.70.0.6', node: 'n2' }],
    },
  ],
  loadBalancers: [
    {
      ...{ key: KEY, name: NAME, protocol: 'tcp', places: [`Load_Balancer_Group/${GROUP}`] },
      vips: { '10.96.0.7:80': '10.70.0.5:8080' },
    },
  ],
};

const GROUP_UUID = ['uuid', 'aaaaaaaa-0000-0000-0000-000000000000'];
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  Load_Balancer: [{ name: NAME, _uuid: ['uuid', 'bbbbbbbb-0000-0000-0000-000000000000'] }],
  Load_Balancer_Group: [{ name: GROUP, _uuid: GROUP_UUID }],
  Logical_Switch: [
    { name: 'red_net_n1', load_balancer_group: GROUP_UUID },
    { name: 'other', load_balancer_group: ['set', []] },
  ],
  Logical_Router: [{ name: 'GR_red_net_n1', load_balancer_group: GROUP_UUID }],
};

const FLOWS = [
  ' cookie=0x1, duration=1s, table=14, n_packets=9, n_bytes=1, priority=120,tcp,metadata=0x8,nw_dst=10.96.0.7,tp_dst=80 actions=drop',
  ' cookie=0x2, duration=1s, table=21, n_packets=4, n_bytes=1, priority=120,ct_state=+new+trk,tcp,metadata=0x8,nw_dst=10.96.0.7,tp_dst=80 actions=drop',
].join('\n');

interface Given {
  readonly found?: readonly ServiceStatus[];
  readonly differences?: readonly DifferenceStatus[];
  readonly problems?: readonly ProblemStatus[];
  readonly northbound?: Readonly<Record<string, readonly Row[]>>;
  readonly southbound?: Readonly<Record<string, readonly Row[]>>;
  readonly flows?: string;
  readonly desired?: readonly DesiredStatus[];
}

const BRIDGE_FLOWS = [
  ' cookie=0xdeff105, duration=1s, table=1, n_packets=5, n_bytes=1, priority=110,ct_state=-rpl+trk,tcp,in_port=1,nw_dst=172.18.0.2,tp_dst=31080 actions=output:4',
  ' cookie=0xdeff105, duration=1s, table=0, n_packets=4, n_bytes=1, priority=110,tcp,in_port=4,nw_src=172.18.0.2,tp_src=31080 actions=output:1',
  ' cookie=0xdeff105, duration=1s, table=0, n_packets=3, n_bytes=1, priority=500,tcp6,in_port=4,ipv6_src=fd69::b,ipv6_dst=fd69::2,tp_dst=9090 actions=drop',
  ' cookie=0xdeff105, duration=1s, table=0, n_packets=2, n_bytes=1, priority=93,icmp,in_port=4,dl_src=02:00:00:00:00:01,nw_src=203.0.113.1,icmp_type=3 actions=output:1',
].join('\n');
const BRIDGE_PORTS = [
  'system@ovs-system: hit:1 missed:1',
  '  br-ex:',
  '    eth0 1/1: (system)',
  '    patch-red 4/none: (patch: peer=red)',
];

const output = (args: readonly string[] = [], flows = FLOWS): string => {
  if (args[0] === 'dpif/show') return BRIDGE_PORTS.join('\n');
  if (args.includes('br-ex')) return BRIDGE_FLOWS;
  expect(args).toEqual(['--no-names', 'dump-flows', 'br-int', 'tcp,nw_dst=10.96.0.7,tcp_dst=80']);
  return flows;
};

const map = (header: string, key: string, value: string): SetState => ({
  kind: 'map',
  header: [header],
  elements: new Map([[key, { value }]]),
});
const TABLE: TableState = {
  ...emptyTable(),
  sets: new Map([
    ['nodeports-v4', map('type inet_proto . inet_service : ipv4_addr . inet_service', 'tcp . 31080', '10.96.0.7 . 80')],
    ['udn-mark-nodeports', map('type inet_proto . inet_service : verdict', 'tcp . 31080', 'jump udn-mark-0x1001')],
  ]),
};

const desired = (backend: 'openflow' | 'nftables', feature: string, key: string): DesiredStatus => ({
  ...{ backend, key },
  owners: [`${feature}:red/web`],
});
const TO_HOST = 'flow br-ex 0 500 in_port=patch-red,ipv6_src=fd69::b,ipv6_dst=fd69::2,tcp6,tp_dst=9090';
const IN = 'flow br-ex 1 110 in_port=eth0,ct_state=-rpl+trk,nw_dst=172.18.0.2,tcp,tp_dst=31080';
const ICMP = 'flow br-ex 0 93 in_port=patch-red,dl_src=02:00:00:00:00:01,icmp';
const ICMP6 = 'flow br-ex 0 93 in_port=patch-red,dl_src=02:00:00:00:00:01,icmp6';
const ENTRY_POINTS = [
  desired('openflow', 'service-flows', IN),
  desired('openflow', 'service-flows', 'flow br-ex 0 110 in_port=patch-red,nw_src=172.18.0.2,tcp,tp_src=31080'),
  desired('openflow', 'service-host-endpoints', TO_HOST),
  desired('nftables', 'service-nftables', 'element nodeports-v4 tcp . 31080'),
  desired('nftables', 'service-nftables', 'element udn-mark-nodeports tcp . 31080'),
  desired('nftables', 'service-cluster-ips', 'element udn-cluster-ips-v4 10.96.0.7'),
  desired('openflow', 'service-flows', `${ICMP},icmp_type=3,nw_src=203.0.113.1`),
  desired('openflow', 'service-flows', `${ICMP6},icmp_type=1,ipv6_src=2001:db8::1`),
  desired('openflow', 'service-flows', `${ICMP6},icmp_type=2,ipv6_src=2001:db8::1`),
  // Of a pod that has the Service's name.
  desired('nftables', 'host-isolation', 'element udn-pod-default-ips-v4 10.128.0.5'),
];
const GATEWAY = { mode: 'shared', bridge: 'br-ex', mac: '02:00:00:00:00:01', addresses: [], nextHops: [] } as const;

const sources = ({ found = [service], ...given }: Given): ExplainSources => ({
  agent: {
    node: () => Promise.resolve({ name: 'n1', gateway: { ...GATEWAY, addresses: [], nextHops: [] } }),
    networks: () => Promise.resolve([]),
    pods: () => Promise.resolve([]),
    health: () => Promise.resolve([]),
    problems: () => Promise.resolve([...(given.problems ?? [])]),
    desired: () => Promise.resolve([...(given.desired ?? [])]),
    differences: () =>
      Promise.resolve({ differences: [...(given.differences ?? [])], unreadable: [], unsupported: [] }),
    policies: () => Promise.resolve({ isRead: true, policies: [], rules: [], pods: [] }),
    services: () => Promise.resolve([...found]),
  },
  northbound: memoryTables(given.northbound ?? ROWS),
  southbound: memoryTables(given.southbound ?? ROWS),
  openvswitch: memoryTables({}),
  runner: {
    run: ({ args }) => Promise.resolve({ stdout: output(args, given.flows), stderr: '' }),
  },
  podNetns: { read: () => ({ addresses: [], routes: [] }) },
  hostTable: () => Promise.resolve(TABLE),
});

const of = async (given: Given = {}) => {
  const { lines, exitStatus, data } = await explain(sources(given), 'service', 'red/web');
  const { checks } = data as { checks: { what: string; state: string; found: string }[] };
  return { lines, exitStatus, checks, missing: checks.filter(({ state }) => state === 'missing') };
};

describe('explain service', () => {
  it('says what there is, where it is sent, which slice says so, and what is left out', async () => {
    const { lines, exitStatus } = await of();
    expect(lines.map((line) => line.trim().replace(/ {2,}/g, ' '))).toEqual([
      'service red/web on n1: everything is in place',
      'ok network red_net, of namespace red; ClusterIPs 10.96.0.7',
      "ok slice web-1 ignored: Kubernetes' own, with addresses on the default network; IPv4, http 8080/tcp; 1 ready",
      'ok slice web-2 the mirror for network red_net; IPv4, http 8080/tcp, old 81/tcp; 2 ready, 1 terminating',
      `ok load balancer tcp ${NAME} on switch red_net_n1, router GR_red_net_n1 (by ${GROUP})`,
      'ok tcp flows of br-int 2 for 10.96.0.7:80; 4 packets opened connections',
      'ok 10.96.0.7:80/tcp 10.70.0.5:8080 on n1 (web-2)',
      'ok left out 10.70.0.5:81, 10.70.0.6:81: the Service has no port "old" of TCP',
      'ok left out 10.9.9.9:8080, 10.9.9.9:81: not an endpoint address of network red_net',
      'ok left out 10.70.0.6:8080: terminating, and others are ready',
    ]);
    expect(exitStatus).toBe(0);
  });

  it('has what comes by the gateway bridge, and where nftables translate to', async () => {
    const { checks, exitStatus } = await of({ desired: ENTRY_POINTS });
    expect(checks.slice(-6)).toEqual([
      {
        ...{ what: 'br-ex 172.18.0.2:31080/tcp', state: 'ok' },
        found: 'table 1 priority 110 (5 packets), table 0 priority 110 (4 packets)',
      },
      { what: 'br-ex [fd69::2]:9090/tcp', state: 'ok', found: 'table 0 priority 500 (3 packets)' },
      { what: 'br-ex 203.0.113.1/icmp', state: 'ok', found: 'table 0 priority 93 (2 packets)' },
      { what: 'br-ex 2001:db8::1/icmp6', state: 'ok', found: 'table 0 priority 93, table 0 priority 93' },
      {
        ...{ what: 'nftables tcp . 31080', state: 'ok' },
        found: 'nodeports-v4 → 10.96.0.7 . 80, udn-mark-nodeports → jump udn-mark-0x1001',
      },
      { what: 'nftables 10.96.0.7', state: 'ok', found: 'udn-cluster-ips-v4' },
    ]);
    expect(exitStatus).toBe(0);
  });

  it.each<[string, Given, string]>([
    [
      'a flow that is not there',
      { desired: ENTRY_POINTS, differences: [{ backend: 'openflow', key: IN, kind: 'missing', owners: [] }] },
      'br-ex 172.18.0.2:31080/tcp',
    ],
    [
      'an element that somebody has changed',
      {
        desired: ENTRY_POINTS,
        differences: [{ backend: 'nftables', key: ENTRY_POINTS[3]?.key ?? '', kind: 'different', owners: [] }],
      },
      'nftables tcp . 31080',
    ],
    ['a Service that it does not know', { found: [] }, 'agent'],
    ['a network that is not here', { found: [{ ...service, message: 'not here', loadBalancers: [] }] }, 'network'],
    ['a row that is not there', { northbound: {} }, 'load balancer tcp'],
    ['a row that northd has not seen', { southbound: {} }, 'tcp southbound'],
    ['flows that are not there', { flows: '' }, 'tcp flows of br-int'],
    [
      'a row that differs',
      { differences: [{ backend: 'northbound', key: KEY, kind: 'different', owners: [] }] },
      'load balancer tcp',
    ],
    [
      'a group that lacks it',
      {
        differences: [
          {
            ...{ backend: 'northbound', key: `Load_Balancer_Group/${GROUP}`, kind: 'different', owners: [] },
            wanted: `{"load_balancer":["${KEY}"]}`,
          },
        ],
      },
      'load balancer tcp',
    ],
    [
      'a row that nobody wants',
      {
        differences: [
          {
            ...{ backend: 'northbound', key: 'Load_Balancer/old', kind: 'unwanted', owners: [] },
            actual: '{"external_ids":{"k8s.ovn.org/owner":"red/web"}}',
          },
        ],
      },
      'left over',
    ],
    [
      'endpoints without a mirror',
      { found: [{ ...service, slices: service.slices.slice(0, 1), loadBalancers: [] }] },
      'mirrors',
    ],
  ])('finds %s', async (_, given, what) => {
    const { missing, exitStatus } = await of(given);
    expect(missing.map((check) => check.what)).toContain(what);
    expect(exitStatus).toBe(1);
  });

  it.each([
    ['no EndpointSlice', []],
    ['no endpoint is ready', service.slices.map((slice) => ({ ...slice, ready: [], terminating: [] }))],
  ])('is not in place with %s', async (text, slices) => {
    const [balancer] = service.loadBalancers;
    if (balancer === undefined) throw new Error('there is none');
    const found = [{ ...service, slices, loadBalancers: [{ ...balancer, vips: { '10.96.0.7:80': '' } }] }];
    const { missing, exitStatus } = await of({ found });
    expect(exitStatus).toBe(1);
    expect(missing).toEqual([expect.objectContaining({ what: 'endpoints', found: expect.stringContaining(text) })]);
    expect((await of()).missing).toEqual([]);
  });

  it('has what the agent says of it, and of its slices', async () => {
    const problem = (object: string): ProblemStatus => ({
      object,
      severity: 'warning',
      message: `of ${object}`,
      cause: 'other',
    });
    const problems = ['Service/red/web', 'EndpointSlice/red/web-2', 'Service/red/web-2'].map(problem);
    expect((await of({ problems })).checks.filter(({ state }) => state === 'unknown')).toMatchObject([
      { what: 'Service/red/web', found: 'of Service/red/web' },
      { what: 'EndpointSlice/red/web-2' },
    ]);
  });
});
