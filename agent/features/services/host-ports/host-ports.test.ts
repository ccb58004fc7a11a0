/** Ports of pods on nodes, as rows, elements and reports. Over 300 lines: all cases read one cluster by the same helpers. */
import { describe, expect, it } from 'vitest';
import type { HostPort } from '../../../../api/host-ports.ts';
import { parseIp } from '../../../../net/ip.ts';
import { addTenant, emptyCluster, type Variant, workedCluster } from '../../../../test/unit/golden/worked-cluster.ts';
import type { PodInput, TestCluster } from '../../../testing/cluster.ts';

const DUAL: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };
const NODE = ['172.30.0.2', 'fd00:30::2'];

const cluster = (variant: Variant = DUAL): TestCluster =>
  workedCluster(variant).namespace('blue', true).namespace('plain');

const port = (text: string): HostPort => {
  const [, protocol, hostPort, containerPort, hostIp] = /^(\w+)\/(\d+):(\d+)(?:@(.*))?$/.exec(text) ?? [];
  return {
    protocol: protocol as HostPort['protocol'],
    hostPort: Number(hostPort),
    containerPort: Number(containerPort),
    ...(hostIp !== undefined && { hostIp: parseIp(hostIp) }),
  };
};

const DEFAULT_IPS = ['10.128.0.7/23', 'fd00:10:128::7/64'];
const podOf = (ports: readonly string[], rest: Partial<PodInput> = {}): PodInput => ({
  node: 'node1',
  networks: { default: { ips: DEFAULT_IPS, role: 'primary' } },
  hostPorts: ports.map(port),
  ...rest,
});
const tenantPod = (ports: readonly string[], rest: Partial<PodInput> = {}): PodInput =>
  podOf(ports, {
    networks: {
      default: { ips: DEFAULT_IPS, role: 'infrastructure-locked' },
      'blue/net': { ips: ['10.200.1.7/24', 'fd00:200:0:1::7/64'], role: 'primary', tunnelId: 7 },
    },
    ...rest,
  });

type Row = Readonly<Record<string, unknown>>;
const balancersOf = (of: TestCluster): string[] =>
  (of.render().northbound['Load_Balancer'] ?? [])
    .map((row) => row as Row)
    .filter(({ name }) => String(name).includes('Pod_'))
    .map(({ name, vips, options }) => {
      const { skip_snat } = options as Row;
      return `${name} ${JSON.stringify(vips)}${skip_snat === 'true' ? ' keeping the source' : ''}`;
    });

const nftOf = (of: TestCluster): string[] =>
  of
    .render()
    .nftables.split('\n')
    .map((line) => line.trim())
    .filter((line) => line.includes(' . 80 ') && /(?:plain|blue)\/a/.test(line));

const flowsOf = (of: TestCluster): string[] =>
  (of.render().openflow['br-ex'] ?? []).filter((flow) => /tp_(dst|src)=(80|8080)\b/.test(flow));

const refusalsOf = (of: TestCluster): string[] =>
  of
    .render()
    .diagnostics.filter(({ object }) => object.startsWith('Pod/'))
    .map(({ object, message }) => `${object}: ${message}`);

describe('a port of the node', () => {
  it('leads to the pod at every address of the node, of both families', () => {
    const of = cluster().pod('plain/a', podOf(['TCP/80:8080']));
    const vips = '{"172.30.0.2:80":"10.128.0.7:8080","[fd00:30::2]:80":"[fd00:10:128::7]:8080"}';
    expect(balancersOf(of)).toEqual([
      `Pod_plain/a_TCP_node_local_router_node1 ${vips} keeping the source`,
      'Pod_plain/a_TCP_node_router_node1 {"169.254.0.6:80":"10.128.0.7:8080","169.254.0.7:80":"10.128.0.7:8080","[fd69::6]:80":"[fd00:10:128::7]:8080"}',
      `Pod_plain/a_TCP_node_switch_node1 ${vips}`,
    ]);
    expect(flowsOf(of)).toHaveLength(4);
    expect(refusalsOf(of)).toEqual([]);
  });

  it.each(['layer3', 'layer2'] as const)('of a tenant is on its primary network, of %s', (topology) => {
    const of = cluster({ ...DUAL, topology }).pod('blue/a', tenantPod(['TCP/80:8080']));
    const rows = balancersOf(of);
    expect(rows).toHaveLength(3);
    expect(rows.every((row) => row.startsWith('blue_Pod_blue/a_TCP_') && row.includes('"10.200.1.7:8080"'))).toBe(true);
    expect(rows.join()).not.toContain('10.128.0.7');
    expect(flowsOf(of).every((flow) => flow.includes('patch-br-ex_blue_node1-to-br-int'))).toBe(true);
    const marked = nftOf(of).filter((line) => line.includes('jump udn-mark-0x1001'));
    expect(['127.0.0.1', ...NODE].map((ip, at) => marked[at]?.includes(`${ip} . tcp . 80 `))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('is the host’s in local gateway mode, which leaves clients their addresses', () => {
    const of = cluster({ ...DUAL, mode: 'local' }).pod('plain/a', podOf(['UDP/80:8080']));
    expect(flowsOf(of)).toEqual([]);
    expect(balancersOf(of).at(-1)).toBe(
      'Pod_plain/a_UDP_node_switch_node1 {"169.254.0.3:80":"10.128.0.7:8080","172.30.0.2:80":"10.128.0.7:8080","[fd00:30::2]:80":"[fd00:10:128::7]:8080","[fd69::3]:80":"[fd00:10:128::7]:8080"}',
    );
    expect(nftOf(of).map((line) => line.replace(/ comment "plain\/a"/, ''))).toMatchInlineSnapshot(`
      [
        "elements = { 172.30.0.2 . udp . 80 : 169.254.0.3 . 80 }",
        "elements = { fd00:30::2 . udp . 80 : fd69::3 . 80 }",
        "elements = { 127.0.0.1 . udp . 80 : 169.254.0.7 . 80,",
        "172.30.0.2 . udp . 80 : 169.254.0.6 . 80 }",
        "elements = { fd00:30::2 . udp . 80 : fd69::6 . 80 }",
        "elements = { 169.254.0.3 . udp . 80 }",
        "elements = { fd69::3 . udp . 80 }",
        "elements = { 127.0.0.1 . udp . 80 : jump udn-mark-0x1000,",
        "172.30.0.2 . udp . 80 : jump udn-mark-0x1000 }",
        "elements = { fd00:30::2 . udp . 80 : jump udn-mark-0x1000 }",
      ]
    `);
  });

  it('goes with its pod, and is nobody’s of a pod that has finished or has the node’s own ports', () => {
    const of = cluster();
    const nothing = balancersOf(of);
    for (const rest of [{ finished: true }, { hostNetwork: true }]) {
      of.pod('plain/a', podOf(['TCP/80:8080'], rest));
      expect([balancersOf(of), nftOf(of), flowsOf(of)]).toEqual([nothing, [], []]);
    }
    of.pod('plain/a', podOf(['TCP/80:8080']));
    expect(balancersOf(of)).toHaveLength(3);
    of.withoutPod('plain/a');
    expect([balancersOf(of), nftOf(of), flowsOf(of)]).toEqual([nothing, [], []]);
  });

  it('claims its port, so that a process that listens there is reported', () => {
    const of = cluster().pod('plain/a', podOf(['TCP/80:8080@172.30.0.2', 'SCTP/80:8080', 'UDP/81:81@127.0.0.1']));
    of.render();
    expect(of.sinks.nodePorts.all()).toEqual([
      { kind: 'claim', object: 'Pod/plain/a', protocol: 'TCP', port: 80, ip: '172.30.0.2', families: [4] },
      { kind: 'claim', object: 'Pod/plain/a', protocol: 'UDP', port: 81, ip: '127.0.0.1', families: [4] },
    ]);
  });
});

describe('a hostIP', () => {
  const vipsOf = (hostIp: string): string => {
    const of = cluster().pod('plain/a', podOf([`TCP/80:8080@${hostIp}`]));
    const found = balancersOf(of).flatMap((row) => row.match(/(?<=")[^"]+(?=":")/g) ?? []);
    return [...new Set(found), ...refusalsOf(of)].join(' ');
  };
  it.each([
    ['0.0.0.0', '172.30.0.2:80 169.254.0.6:80 169.254.0.7:80'],
    ['::', '[fd00:30::2]:80 [fd69::6]:80'],
    ['172.30.0.2', '172.30.0.2:80 169.254.0.6:80'],
    ['127.0.0.1', '169.254.0.7:80'],
    ['::1', 'Pod/plain/a: TCP port 80 at ::1 of node node1 is not open: Linux forwards nothing from ::1'],
    ['172.30.0.9', 'Pod/plain/a: TCP port 80 at 172.30.0.9 of node node1 is not open: it is no address of the node'],
  ])('%s', (hostIp, expected) => {
    expect(vipsOf(hostIp)).toBe(expected);
  });

  it('of a loopback address lets the kernel send from there, and no other does', () => {
    const sysctls = (hostIp: string) =>
      cluster()
        .pod('plain/a', podOf([`TCP/80:8080@${hostIp}`]))
        .render().sysctls['net.ipv4.conf.br-ex.route_localnet'];
    expect([sysctls('127.0.0.1'), sysctls('172.30.0.2')]).toEqual(['1', undefined]);
  });

  it('of a loopback address stays guarded without node ports and without a gateway: the setting outlives its pods', () => {
    const of = cluster();
    const gateway = of.facts.get('gateway', 'node1');
    for (const changed of [gateway, gateway && { ...gateway, nodePortEnable: false }, undefined]) {
      of.facts.set('gateway', 'node1', changed);
      expect(of.render().nftables).toContain('iifname != "lo" ip daddr 127.0.0.0/8 drop');
    }
  });

  it('of a family that the pod does not have is reported', () => {
    const of = cluster().pod('plain/a', {
      ...podOf(['TCP/80:8080@fd00:30::2']),
      networks: { default: { ips: ['10.128.0.7/23'], role: 'primary' } },
    });
    expect(refusalsOf(of)).toEqual([
      'Pod/plain/a: TCP port 80 at fd00:30::2 of node node1 is not open: the pod has no IPv6 address',
    ]);
  });
});

it('reports what of its ports cannot be read, and opens the others', () => {
  const why = 'spec.containers[0].ports[0].hostIP: "010.0.0.1" is not an IP address';
  const of = cluster().pod('plain/a', podOf(['TCP/80:8080'], { refusedHostPorts: [why] }));
  expect(refusalsOf(of)).toEqual([`Pod/plain/a: not every port of node node1 is open: ${why}`]);
  expect(balancersOf(of)).toHaveLength(3);
  expect(refusalsOf(of.pod('plain/a', podOf([], { refusedHostPorts: [why] })))).toHaveLength(1);
});

describe('nobody loses a port', () => {
  const refused = (of: TestCluster, what = 'TCP/80:8080'): string[] => {
    of.pod('plain/z', podOf([what], { createdAt: '2026-02-01T00:00:00Z' }));
    expect(balancersOf(of).filter((row) => row.includes('plain/z'))).toEqual([]);
    return refusalsOf(of).map((text) => text.replace(/^Pod\/plain\/z: .* is not open: /, ''));
  };

  it('that a Service has on all nodes', () => {
    const of = cluster().service('blue/web', { ips: ['172.16.1.7'], ports: ['TCP/80@30080'] });
    expect(refused(of, 'TCP/30080:80')).toEqual(['it is the node port of a Service']);
    of.pod('plain/y', podOf(['UDP/30080:80', 'TCP/30080:80@127.0.0.1']));
    expect(balancersOf(of)).not.toEqual([]);
    of.withoutService('blue/web').withoutPod('plain/y');
    expect(refusalsOf(of)).toEqual([]);
    expect(balancersOf(of)).toHaveLength(3);
  });

  it('by which load balancers ask nodes about a Service', () => {
    const of = cluster().service('blue/web', { ips: ['172.16.1.7'], ports: ['TCP/80'], healthCheckNodePort: 30_999 });
    expect(refused(of, 'TCP/30999:80')).toEqual(['it is the node port of a Service']);
  });

  it('at which a Service is reached by an address of the node; the pod has it at the others', () => {
    const of = cluster().service('plain/lb', {
      ips: ['172.16.1.7'],
      ports: ['TCP/80'],
      loadBalancerIps: ['172.30.0.2'],
    });
    of.pod('plain/z', podOf(['TCP/80:8080@::', 'TCP/80:8080@0.0.0.0']));
    expect(refusalsOf(of)).toEqual([
      'Pod/plain/z: TCP port 80 at 0.0.0.0 of node node1 is not open: a Service has it at 172.30.0.2',
    ]);
    const vips = balancersOf(of).join();
    expect(vips).toContain('"[fd00:30::2]:80"');
    expect(vips).not.toContain('"172.30.0.2:80"');
  });

  it('but a Service that may not have an address of a node keeps no pod from it', () => {
    const of = cluster().service('blue/lb', {
      ips: ['172.16.1.7'],
      ports: ['TCP/80'],
      externalIps: ['172.30.0.2'],
    });
    of.facts.set('nodeAddress', parseIp('172.30.0.2'), true);
    of.pod('plain/a', podOf(['TCP/80:8080']));
    expect(balancersOf(of).join()).toContain('"172.30.0.2:80"');
  });

  it.each(['TCP/22:22', 'TCP/10250:1', 'TCP/6443:1', 'UDP/68:68', 'UDP/546:1'])('that is reserved: %s', (what) => {
    expect(refused(cluster(), what)).toEqual(['it is reserved']);
  });

  it.each([
    ['127.0.0.1', ['the agent reaches the API server by it']],
    ['172.30.0.2', ['the agent reaches the API server by it']],
    ['192.0.2.1', []],
  ])('by which the agent reaches the API server, if that is on the node: %s', (ip, expected) => {
    const of = workedCluster(DUAL, { apiServer: { ip: parseIp(ip), port: 6444 } }).namespace('plain');
    of.pod('plain/z', podOf(['TCP/6444:80', 'UDP/6444:80']));
    expect(refusalsOf(of).map((text) => text.replace(/^.* is not open: /, ''))).toEqual(expected);
  });

  it('of the encryption of tunnels, where they are encrypted', () => {
    const ports = podOf(['UDP/500:80', 'UDP/4500:80', 'TCP/500:80']);
    const encryption = { certificate: 'c', privateKey: 'k', authority: 'a' };
    expect(refusalsOf(cluster().pod('plain/z', ports))).toEqual([]);
    expect(refusalsOf(workedCluster(DUAL, { encryption }).namespace('plain').pod('plain/z', ports))).toHaveLength(2);
  });

  it('by which nodes send each other their networks', () => {
    expect(refused(cluster(), 'UDP/6081:1')).toEqual(['the tunnels between nodes have it']);
  });

  it.each([
    ['TCP/80:1', true],
    ['TCP/80:1@0.0.0.0', true],
    ['TCP/80:1@127.0.0.1', true],
    ['UDP/80:1', false],
    ['TCP/81:1', false],
  ])('that an older pod has: %s', (other, isRefused) => {
    const of = cluster().pod('plain/a', podOf([other]));
    of.pod('plain/z', podOf(['TCP/80:8080'], { createdAt: '2026-02-01T00:00:00Z' }));
    expect(refusalsOf(of)).toEqual(
      isRefused ? ['Pod/plain/z: TCP port 80 of node node1 is not open: the older pod plain/a has it'] : [],
    );
    of.withoutPod('plain/a');
    expect(refusalsOf(of)).toEqual([]);
    expect(balancersOf(of)).toHaveLength(3);
  });

  it('and the name of another namespace’s pod is not said', () => {
    const of = cluster().pod('blue/a', tenantPod(['TCP/80:1']));
    expect(refused(of)).toEqual(['an older pod of another namespace has it']);
  });

  it('that an older pod asks for without an address yet: it would close the younger one’s later', () => {
    const of = cluster().pod('plain/a', podOf(['TCP/80:1'], { networks: {} }));
    expect(refused(of)).toEqual(['the older pod plain/a asks for it']);
  });

  it.each([
    ['at an address that is not the node’s', 'TCP/80:1@172.30.0.9', 'TCP/80:8080'],
    ['at ::1', 'TCP/80:1@::1', 'TCP/80:8080'],
    ['that is reserved at all addresses', 'TCP/22:1', ''],
  ])('but not to an older one %s', (_, older, younger) => {
    const of = cluster().pod('plain/a', podOf([older]));
    of.pod('plain/z', podOf(younger === '' ? [] : [younger], { createdAt: '2026-02-01T00:00:00Z' }));
    expect(refusalsOf(of).filter((text) => text.startsWith('Pod/plain/z'))).toEqual([]);
    expect(balancersOf(of).filter((row) => row.includes('plain/z'))).toHaveLength(younger === '' ? 0 : 3);
  });

  it('to one that has itself lost to a third', () => {
    const at = (day: number) => ({ createdAt: `2026-02-0${day}T00:00:00Z` });
    const of = cluster()
      .pod('plain/a', podOf(['TCP/80:1@172.30.0.2'], at(1)))
      .pod('plain/b', podOf(['TCP/80:1'], at(2)))
      .pod('plain/c', podOf(['TCP/80:1@127.0.0.1'], at(3)));
    expect(refusalsOf(of)).toEqual([
      'Pod/plain/b: TCP port 80 of node node1 is not open: the older pod plain/a has it',
    ]);
    expect(balancersOf(of).filter((row) => row.includes('plain/c'))).toHaveLength(1);
  });

  it('by having more than a node has', () => {
    const ports = (from: number): string[] => Array.from({ length: 250 }, (_, at) => `TCP/${from + at}:80`);
    const of = cluster();
    for (let pod = 0; pod < 8; pod += 1)
      of.pod(`blue/${pod}`, {
        ...tenantPod(ports(10_000 + 250 * pod)),
        networks: {},
        createdAt: '2025-01-01T00:00:00Z',
      });
    // The one that came last, of the namespace that asks for the most.
    of.pod('plain/a', podOf(['TCP/80:80']));
    const claims = () => ['TCP/80', 'TCP/11999'].map((id) => of.facts.get('hostPortClaims', id)?.map(({ pod }) => pod));
    expect([refusalsOf(of), claims()]).toEqual([[], [['plain/a'], undefined]]);
    of.withoutPod('blue/0');
    expect(claims()).toEqual([['plain/a'], ['blue/7']]);
  });

  it('and many ports of many pods do not take long', () => {
    const of = cluster();
    const before = performance.now();
    const ports = Array.from({ length: 256 }, (_, at) => `TCP/${at + 100}:80`);
    for (let pod = 0; pod < 40; pod += 1) of.pod(`plain/p${pod}`, podOf(ports));
    expect(refusalsOf(of)).toHaveLength(39 * 256);
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  it('that a host-network pod has', () => {
    const of = cluster().pod('blue/host', podOf(['TCP/80:80'], { hostNetwork: true, networks: {} }));
    expect(refused(of)).toEqual(['an older pod of another namespace has it']);
  });

  it('when others have it at another of their addresses or protocols, as Kubernetes’ test has it', () => {
    const of = cluster()
      .pod('plain/a', podOf(['TCP/54323:8080@127.0.0.1']))
      .pod('plain/b', podOf(['TCP/54323:8080@172.30.0.2']))
      .pod('plain/c', podOf(['UDP/54323:8081@172.30.0.2']));
    expect(refusalsOf(of)).toEqual([]);
    expect(balancersOf(of).map((row) => row.split(' ')[0])).toEqual([
      'Pod_plain/a_TCP_node_router_node1',
      'Pod_plain/b_TCP_node_local_router_node1',
      'Pod_plain/b_TCP_node_router_node1',
      'Pod_plain/b_TCP_node_switch_node1',
      'Pod_plain/c_UDP_node_local_router_node1',
      'Pod_plain/c_UDP_node_router_node1',
      'Pod_plain/c_UDP_node_switch_node1',
    ]);
  });

  it('at two addresses of the node, of one network: the host would not know whose it is', () => {
    const of = addTenant(emptyCluster(DUAL), 'blue', 1, DUAL).namespace('blue', true).namespace('plain');
    of.gateway('node1', { addresses: ['172.30.0.2/24', '172.30.0.5/24'] });
    of.pod('plain/a', podOf(['TCP/80:1@172.30.0.2'])).pod('blue/a', tenantPod(['TCP/80:1@172.30.0.5']));
    expect(refusalsOf(of)).toEqual([]);
    of.withoutPod('blue/a');
    expect(refused(of, 'TCP/80:1@172.30.0.5')).toEqual(['the older pod plain/a has it']);
  });
});
