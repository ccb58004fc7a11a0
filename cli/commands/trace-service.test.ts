/** What Open vSwitch 3.5 and OVN 25.03 have printed for Services of a node: see `testdata/service`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NetworkStatus, NodeStatus, PodStatus, ServiceStatus } from '../../api/agent-status.ts';
import type { Command } from '../../datapath/exec/types.ts';
import { CliError } from '../errors.ts';
import type { Transact } from '../flows/datapaths.ts';
import type { Row } from '../node/wire-values.ts';
import { type TraceOptions, type TraceSources, trace } from './trace.ts';

const read = (name: string): string =>
  readFileSync(join(import.meta.dirname, '..', 'trace', 'testdata', 'service', `${name}.txt`), 'utf8');

const node: NodeStatus = {
  name: 'node-1',
  gateway: {
    ...{ mode: 'shared', bridge: 'br-ex', uplink: 'eth0', mac: '02:00:ac:14:00:0b', nextHops: ['172.20.0.1'] },
    addresses: ['172.20.0.11/24'],
  },
};
const network = (name: string, id: number, nodeSubnet: string): NetworkStatus => ({
  ...{ name, id, nads: [], topology: 'layer3', role: id === 0 ? 'default' : 'primary', mtu: 1400 },
  ...{ subnets: [`${nodeSubnet.split('.').slice(0, 2).join('.')}.0.0/16/24`], nodeSubnets: [nodeSubnet] },
  ...{ pods: 1, state: 'ready' },
});
const NETWORKS = [network('default', 0, '10.128.2.0/23'), network('red_net', 1, '10.76.1.0/24')];
const pod = (name: string, address: string, mac: string, hostInterface: string): PodStatus => ({
  ...{ namespace: 'red', name, uid: name, state: 'ready' },
  attachments: [
    {
      ...{ network: 'red_net', nad: 'red/net', role: 'primary', interface: 'ovn-udn1', mac, hostInterface },
      ...{ addresses: [`${address}/24`], port: `red.net_red_${name}`, installed: true },
    },
  ],
});
const PODS = [
  pod('client', '10.76.1.5', '0a:58:0a:4c:01:05', '63a50b1ec596b51'),
  pod('both-1', '10.76.1.4', '0a:58:0a:4c:01:04', '2bc0bf812a489_1'),
];

const service = (name: string, ip: string, more: Partial<ServiceStatus> = {}): ServiceStatus => ({
  ...{ namespace: 'red', name, network: 'red_net', clusterIps: [ip], otherIps: [], refused: [] },
  ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
  slices: [
    {
      ...{ name: `${name}-1`, madeFor: 'primary', network: 'red_net', family: 4, counts: true, terminating: [] },
      ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
      ready: [
        { ip: '10.76.1.4', node: 'node-1' },
        { ip: '10.76.0.4', node: 'node-2' },
      ],
    },
  ],
  loadBalancers: [
    {
      ...{ key: `Load_Balancer/lb-${name}`, name: `lb-${name}`, protocol: 'tcp' },
      ...{ vips: { [`${ip}:80`]: 'wanted' }, places: ['Load_Balancer_Group/red_net_clusterLBGroup'] },
    },
  ],
  ...more,
});
const SERVICES = [
  service('both', '10.96.0.4'),
  service('empty', '10.96.0.5'),
  service('foreign', '10.96.0.9', { namespace: 'green', network: 'green_net' }),
  service('shared', '10.96.0.20', {
    ...{ namespace: 'green', network: 'green_net', otherIps: ['203.0.113.5'] },
    loadBalancers: [
      {
        ...{ key: 'Load_Balancer/lb-shared', name: 'lb-shared', protocol: 'tcp' },
        vips: { '203.0.113.5:80': 'wanted' },
        places: ['Load_Balancer_Group/green_net_clusterLBGroup'],
      },
    ],
  }),
  service('lost', '10.96.0.6'),
  service('late', '10.96.0.7', { message: 'network red_net is not on this node', loadBalancers: [] }),
];

const VIPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'lb-both': { '10.96.0.4:80': '10.76.1.4:8080,10.76.0.4:8080' },
  'lb-shared': { '203.0.113.5:80': '10.76.1.4:8080,10.76.0.4:8080' },
  'lb-empty': { '10.96.0.5:80': '' },
};

const northbound =
  (selection: string | undefined): Transact =>
  (operations) =>
    Promise.resolve(
      operations.map((operation) => {
        if (operation.op !== 'select') throw new Error(`not asked for: ${operation.op}`);
        return { rows: rowsOf(operation.table, String(operation.where[0]?.[2]), selection) } as never;
      }),
    );
const rowsOf = (table: string, name: string, selection: string | undefined): Row[] => {
  if (table === 'Logical_Router_Port') return [{ mac: '0a:58:0a:4c:01:01', networks: '10.76.1.1/24' }];
  const vips = VIPS[name];
  if (table !== 'Load_Balancer' || vips === undefined) return [];
  return [{ vips: ['map', Object.entries(vips)], selection_fields: selection ?? ['set', []] }];
};
const empty: Transact = (operations) => Promise.resolve(operations.map(() => ({ rows: [] }) as never));

interface Answers {
  readonly openVswitch: (hash: number) => string;
  readonly ovn: (endpoint: string | undefined) => string;
  readonly selection?: string;
  readonly asked?: Command[];
}

const sources = ({ openVswitch, ovn, selection, asked = [] }: Answers): TraceSources => ({
  agent: {
    node: () => Promise.resolve(node),
    networks: () => Promise.resolve(NETWORKS),
    pods: () => Promise.resolve(PODS),
    policies: () => Promise.resolve({ isRead: true, policies: [], rules: [], pods: [] }),
    services: (key) =>
      Promise.resolve(
        SERVICES.filter(
          ({ namespace, name, clusterIps, otherIps }) =>
            `${namespace}/${name}` === key || [...clusterIps, ...otherIps].includes(key.split(':')[0] ?? ''),
        ),
      ),
  },
  northbound: northbound(selection),
  southbound: empty,
  runner: {
    run: (command) => {
      asked.push(command);
      return Promise.resolve({ stdout: answer(command, { openVswitch, ovn }), stderr: '' });
    },
  },
  hostTable: () => Promise.resolve(undefined),
});

const answer = ({ file, args }: Command, { openVswitch, ovn }: Pick<Answers, 'openVswitch' | 'ovn'>): string => {
  if (file === 'ovn-trace') return ovn(args.find((one) => one.startsWith('--lb-dst='))?.slice('--lb-dst='.length));
  return args[0] === 'dpif/show' ? read('ports') : openVswitch(Number(/dp_hash=([0-9]+)/.exec(args[2] ?? '')?.[1]));
};

/** As the node of the recordings answers: odd hashes are the far endpoint's. */
const BOTH: Answers = {
  openVswitch: (hash) => read(hash % 2 === 1 ? 'hash-1' : 'hash-2'),
  ovn: (endpoint) =>
    read(endpoint === undefined ? 'ovn-chosen' : endpoint === '10.76.1.4:8080' ? 'ovn-near' : 'ovn-far'),
};

const OPTIONS: TraceOptions = {
  ...{ from: ['pod', 'red/client'], to: 'service/red/both', network: undefined, family: undefined },
  ...{ port: undefined, protocol: undefined, established: false, sbRemote: 'unix:/run/sb.sock' },
  ...{ verbose: false, raw: false },
};

const traced = (answers: Answers, more: Partial<TraceOptions> = {}) => trace(sources(answers), { ...OPTIONS, ...more });
/** Without the way itself. */
const head = async (answers: Answers, more: Partial<TraceOptions> = {}): Promise<string[]> => {
  const { lines } = await traced(answers, more);
  return lines.slice(0, lines.indexOf(''));
};

const ANSWERED = [
  'answered by Service red/both: load balancer lb-both sends 10.96.0.4:80/tcp to 2 endpoints',
  '  10.76.1.4:8080 (node-1): delivered to red/both-1 on this node, network red_net',
  '    ovn-trace agrees: it comes to red/both-1, port red.net_red_both-1',
  '  10.76.0.4:8080 (node-2): sent to the node 172.20.0.12 through a tunnel',
  '    ovn-trace agrees: it goes to another node, as port red_net_tstor-node-2',
];

describe('a packet to a Service', () => {
  it.each([
    ['its name', 'service/red/both'],
    ['its name and the name of a port', 'service/red/both:http'],
    ['its address', '10.96.0.4'],
  ])('by %s goes to each endpoint', async (_, to) => expect(await head(BOTH, { to })).toEqual(ANSWERED));

  it('has the way to each, and as much as is asked for once for programs', async () => {
    const { lines, data } = await traced(BOTH);
    expect(lines).toContain('  br-int: destination becomes 10.76.1.4:8080');
    expect(lines).toContain('  br-int: destination becomes 10.76.0.4:8080');
    expect(data).toMatchObject({
      result: 'answered',
      service: { namespace: 'red', name: 'both', network: 'red_net', loadBalancer: 'lb-both' },
      endpoints: [
        { endpoint: '10.76.1.4:8080', node: 'node-1', openVswitch: { kind: 'delivered', pod: 'red/both-1' } },
        { endpoint: '10.76.0.4:8080', node: 'node-2', openVswitch: { kind: 'tunnel' } },
      ],
    });
  });

  it('asks no more often than it takes to see every endpoint', async () => {
    const asked: Command[] = [];
    await traced({ ...BOTH, asked });
    expect(asked.filter(({ args }) => args[0] === 'ofproto/trace').length).toBe(2);
    expect(asked.filter(({ file }) => file === 'ovn-trace').length).toBe(3);
  });

  it('that always comes to the same endpoint says of the others that they were not followed', async () => {
    const found = await head({ ...BOTH, openVswitch: () => read('hash-2'), selection: 'ip_src' });
    expect(found[0]).toBe(
      'answered by Service red/both: load balancer lb-both sends 10.96.0.4:80/tcp to 1 of its 2 endpoints, by the addresses of the client',
    );
    expect(found.at(-1)).toBe('  not followed: 10.76.0.4:8080');
  });

  it('it reports that OVN’s own load balancer would not send there', async () => {
    const ovn = (endpoint: string | undefined) =>
      endpoint === undefined ? read('ovn-chosen').replace('10.76.0.4:8080', '10.9.9.9:8080') : BOTH.ovn(endpoint);
    expect((await head({ ...BOTH, ovn }))[4]).toBe(
      '    ovn-trace disagrees: no load balancer sends it to 10.76.0.4:8080',
    );
  });

  it('without endpoints is refused, by both', async () => {
    const refused: Answers = { openVswitch: () => read('refused'), ovn: () => read('ovn-refused') };
    expect(await head(refused, { to: 'service/red/empty' })).toEqual([
      'refused with a TCP reset: load balancer lb-empty of Service red/empty has no endpoints for 10.96.0.5:80/tcp',
      'sent to ovn-controller, which answers or completes it',
      'ovn-trace agrees: refused by stage ls_in_lb of switch red_net_node-1: ct.new && ip4.dst == 10.96.0.5 && tcp.dst == 80',
    ]);
  });

  it.each([
    [
      'of another network',
      'service/green/foreign',
      /^not answered: 10\.96\.0\.9:80\/tcp: Service green\/foreign is on network green_net, whose .*; the packet is in network red_net$/,
    ],
    [
      'that is not in the database',
      'service/red/lost',
      /^not programmed here: load balancer lb-lost does not exist in/,
    ],
    ['of a network that is not here', 'service/red/late', /^not programmed here: network red_net is not on this node$/],
  ])('%s says why there is no answer', async (_, to, message) => {
    // What no load balancer takes, for one: it is handed to the controller, too.
    const answers: Answers = { openVswitch: () => read('refused'), ovn: () => read('ovn-refused') };
    expect((await head(answers, { to }))[0]).toMatch(message);
  });

  it('on another port says which there are', async () =>
    expect((await head(BOTH, { to: '10.96.0.4', port: 81 }))[0]).toBe(
      'not answered: Service red/both has no port 81/tcp; it has 80/tcp (http)',
    ));

  it.each([
    ['an unknown Service', { to: 'service/red/none' }, 1],
    ['a port that it has not', { to: 'service/red/both:dns' }, 1],
    ['a family that it has not', { family: 6 as const }, 1],
    ['no name', { to: 'service/red' }, 2],
    ['a connection that is there already', { established: true }, 2],
  ])('of %s is an error', async (_, more, exitStatus) => {
    const failure = await traced(BOTH, more).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CliError);
    expect(failure).toMatchObject({ exitStatus });
  });
});

it('a packet to an external address of another network is followed there, and ovn-trace is not asked to agree', async () => {
  const { lines, data } = await traced(BOTH, { to: '203.0.113.5' });
  expect(lines.slice(0, 4)).toEqual([
    'answered by Service green/shared: load balancer lb-shared sends 203.0.113.5:80/tcp to 2 endpoints',
    '  10.76.1.4:8080 (node-1): delivered to red/both-1 on this node, network red_net',
    '  10.76.0.4:8080 (node-2): sent to the node 172.20.0.12 through a tunnel',
    '',
  ]);
  expect(data).toMatchObject({ endpoints: [{ openVswitch: { kind: 'delivered' } }, {}] });
  expect(data).not.toHaveProperty('endpoints.0.logical');
});

it('a packet of the host is followed into OVN, as the gateway bridge has made it', async () => {
  const asked: Command[] = [];
  const openVswitch = () => read('host');
  const { lines } = await traced({ ...BOTH, openVswitch, asked }, { from: ['host'], to: '10.96.0.12' });
  expect(lines[0]).toBe('sent to the node 172.20.0.12 through a tunnel');
  expect(lines).toContain('  br-int: datapath 5');
  expect(asked.find(({ file }) => file === 'ovn-trace')?.args.at(-1)).toMatch(
    /^inport == "br-ex_node-1" && eth\.src == 02:00:ac:14:00:0b && eth\.dst == 02:00:ac:14:00:0b && ip4\.src == 169\.254\.0\.2 && ip4\.dst == 10\.96\.0\.12 /,
  );
});
