import { describe, expect, it } from 'vitest';
import { type NodePortItem, ownerOf } from '../../../model/node-ports.ts';
import { type ServiceInput, type SliceInput, TestCluster } from '../../../testing/cluster.ts';

const cluster = (): TestCluster =>
  new TestCluster('n1', {}, {})
    .node('n1', { id: 2, subnets: { default: ['10.128.0.0/24'], blue: ['10.1.0.0/24'] } })
    .node('n2', { id: 3, subnets: { default: ['10.128.1.0/24'], blue: ['10.1.1.0/24'] } })
    .gateway('n1', { addresses: ['172.30.0.2/24'], hostAddresses: ['172.30.0.2/24', 'fd00:30::2/64'] })
    .namespace('plain')
    .namespace('red', true)
    .network('blue', { id: 1, topology: 'layer3', subnets: ['10.1.0.0/16'], namespace: 'red', nad: 'net' });

const desired = (it: TestCluster): NodePortItem[] => {
  it.render();
  return it.sinks.nodePorts.all();
};

const LOCAL: ServiceInput = {
  ips: ['172.16.1.2'],
  ports: ['http:TCP/80'],
  externalTrafficPolicy: 'Local',
  healthCheckNodePort: 31_000,
};

const counts = (key: string, input: Partial<ServiceInput>, ...slices: readonly SliceInput[]): unknown => {
  const it = cluster()
    .service(key, { ...LOCAL, ...input })
    .slices(key, ...slices);
  return desired(it).flatMap((item) => (item.kind === 'health-check' ? [item.localEndpoints] : []));
};

const PORTS = ['http:TCP/8080'];
const here = (...ips: readonly string[]) => ips.map((ip) => ({ ip, node: 'n1' }));
const elsewhere = (...ips: readonly string[]) => ips.map((ip) => ({ ip, node: 'n2' }));

describe('a health check counts', () => {
  it('ready endpoints of this node, once each', () => {
    const first = { ports: PORTS, ready: [...here('10.128.0.5', '10.128.0.6'), ...elsewhere('10.128.1.5')] };
    const second = { ports: ['other:TCP/1', 'http:TCP/8081'], ready: here('10.128.0.6', '10.128.0.7') };
    expect(counts('plain/a', {}, first, second)).toEqual([{ 4: 3 }]);
  });

  it('none that end, that nobody knows the place of, or that no port of the Service leads to', () => {
    const ending = { ports: PORTS, ready: ['10.128.0.5'], terminating: here('10.128.0.6') };
    const other = { ports: ['http:UDP/8080', 'admin:TCP/9'], ready: here('10.128.0.7') };
    expect(counts('plain/a', {}, ending, other)).toEqual([{ 4: 0 }]);
  });

  it('each family that the Service has', () => {
    const four = { ports: PORTS, ready: here('10.128.0.5') };
    const six = { family: 6 as const, ports: PORTS, ready: here('fd00:10:128::5', 'fd00:10:128::6') };
    expect(counts('plain/a', { ips: ['fd00:172:16::2', '172.16.1.2'] }, four, six)).toEqual([{ 4: 1, 6: 2 }]);
    expect(counts('plain/a', {}, four, six)).toEqual([{ 4: 1 }]);
  });

  it('what the load balancers of its network send to, and nothing else', () => {
    const ofDefault: SliceInput = { madeFor: 'default', ports: PORTS, ready: here('10.128.0.5') };
    const ofBlue: SliceInput = {
      madeFor: 'primary',
      network: 'blue',
      ports: PORTS,
      ready: here('10.1.0.5', '10.1.0.6'),
    };
    const byHand: SliceInput = { ports: PORTS, ready: here('10.1.0.7', '10.128.0.9') };
    expect(counts('red/a', {}, ofDefault, ofBlue, byHand)).toEqual([{ 4: 3 }]);
    expect(counts('plain/a', {}, ofDefault, ofBlue)).toEqual([{ 4: 1 }]);
  });
});

it('a health check is there without endpoints, and while its network is here', () => {
  const it = cluster().service('red/a', LOCAL);
  const check = { kind: 'health-check', service: 'red/a', port: 31_000, localEndpoints: { 4: 0 } };
  expect(desired(it)).toEqual([check]);
  it.facts.set('nodeSubnets', 'n1/blue', undefined);
  expect(desired(it)).toEqual([]);
  it.subnets('n1', 'blue', ['10.1.0.0/24']);
  expect(desired(it)).toEqual([check]);
  it.facts.set('service', 'red/a', undefined);
  expect(desired(it)).toEqual([]);
});

it('node ports of TCP and UDP are claimed on all addresses', () => {
  const ports = ['http:TCP/80@30080', 'dns:UDP/53@30053', 'sctp:SCTP/90@30090', 'admin:TCP/81'];
  const service = { ips: ['172.16.1.2', 'fd00:172:16::2'], ports };
  expect(desired(cluster().service('plain/a', service))).toEqual([
    { kind: 'claim', object: 'Service/plain/a', protocol: 'TCP', port: 30_080, families: [4, 6] },
    { kind: 'claim', object: 'Service/plain/a', protocol: 'UDP', port: 30_053, families: [4, 6] },
  ]);
});

it('ports of external addresses are claimed where the node has the address', () => {
  const ips = { externalIps: ['172.30.0.2', '172.30.0.9'], loadBalancerIps: ['fd00:30::2', '172.30.0.2'] };
  const it = cluster().service('plain/a', { ips: ['172.16.1.2'], ports: ['http:TCP/80', 'SCTP/90'], ...ips });
  const claim = { kind: 'claim', object: 'Service/plain/a', protocol: 'TCP', port: 80 };
  const six = { ...claim, ip: 'fd00:30::2', families: [6] };
  expect(desired(it)).toEqual([{ ...claim, ip: '172.30.0.2', families: [4] }, six]);
  it.gateway('n1', { addresses: ['172.30.0.2/24'], hostAddresses: ['172.30.0.3/24', 'fd00:30::2/64'] });
  expect(desired(it)).toEqual([six]);
});

it('a Service that wants no port reads nothing that changes', () => {
  const it = cluster().service('plain/a', { ips: ['172.16.1.2'], ports: ['TCP/80'] });
  const claiming = { ips: ['172.16.1.3'], ports: ['TCP/80@30080'] };
  it.service('plain/b', claiming).slices('plain/a', { ports: ['TCP/80'] });
  desired(it);
  it.slices('plain/a', { ports: ['TCP/80'], ready: ['10.128.0.5'] });
  it.slices('plain/b', { ports: ['TCP/80'], ready: ['10.128.0.5'] });
  it.gateway('n1', { addresses: ['172.30.0.7/24'] });
  desired(it);
  expect(it.flushes.at(-1)?.filter((owner) => owner === 'node-ports:plain/a')).toEqual([]);
});

it('a node without node ports has no endpoint for load balancers, and claims nothing', () => {
  const it = cluster()
    .service('plain/a', {
      ips: ['172.16.1.2'],
      ports: ['TCP/80@30080'],
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 31000,
    })
    .slices('plain/a', { ports: ['TCP/8080'], ready: [{ ip: '10.128.0.5', node: 'n1' }] });
  expect(desired(it).map((item) => (item.kind === 'health-check' ? item.localEndpoints : item.port))).toEqual([
    { 4: 1 },
    30080,
  ]);
  const gateway = it.facts.get('gateway', 'n1');
  it.facts.set('gateway', 'n1', gateway && { ...gateway, nodePortEnable: false });
  expect(desired(it).map((item) => (item.kind === 'health-check' ? item.localEndpoints : item.port))).toEqual([
    { 4: 0 },
  ]);
});

it('what an older Service has is claimed for that one alone', () => {
  const wants = { ips: ['172.16.1.2'], ports: ['TCP/80@30080'], externalIps: ['172.30.0.2'] };
  const it = cluster()
    .service('plain/a', { ...wants, createdAt: '2026-01-02T00:00:00Z' })
    .service('plain/b', { ...wants, createdAt: '2026-01-01T00:00:00Z' });
  expect(new Set(desired(it).map(ownerOf))).toEqual(new Set(['Service/plain/b']));
  it.withoutService('plain/b');
  expect(desired(it).map((item) => `${ownerOf(item)} ${item.port}`)).toEqual([
    'Service/plain/a 30080',
    'Service/plain/a 80',
  ]);
});
