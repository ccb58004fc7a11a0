/** Services by their objects alone: every column, and every kind of Service. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SLICE_CONTROLLER, SLICE_MIRROR_CONTROLLER } from '../../api/names.ts';
import { layer2Udn, namespace, tenant } from '../../cluster-manager/testing/objects.ts';
import { NOW, nadOf, scene, settledNetwork } from '../why/testing/objects.ts';
import { serviceItems } from './service-rows.ts';
import { servicesOutput } from './tables.ts';

type Fields = Readonly<Record<string, unknown>>;

const net = settledNetwork(layer2Udn('red/net', ['10.100.0.0/16']));
const CLUSTER = [namespace('plain'), tenant('red'), net, nadOf(net, 'red', { subnets: '10.100.0.0/16,fd00:100::/64' })];
const HTTP = [{ name: 'http', port: 80 }];

const service = (key: string, spec: Fields = {}, more: Fields = {}, metadata: Fields = {}) => {
  const [ns, name] = key.split('/');
  return {
    ...{ apiVersion: 'v1', kind: 'Service' },
    metadata: { namespace: ns, name, creationTimestamp: new Date(NOW - 90_000).toISOString(), ...metadata },
    spec: { type: 'ClusterIP', clusterIPs: ['10.96.0.2'], ports: HTTP, ...spec },
    ...more,
  };
};

type MadeFor = 'default' | 'any' | { readonly network: string };

let count = 0;
const slice = (key: string, madeFor: MadeFor, endpoints: readonly unknown[], fields: Fields = {}) => {
  const [ns, name = ''] = key.split('/');
  const byHand = { 'kubernetes.io/service-name': name };
  const by = 'endpointslice.kubernetes.io/managed-by';
  const mirrored = { 'k8s.ovn.org/service-name': name, [by]: SLICE_MIRROR_CONTROLLER };
  const labels =
    typeof madeFor === 'object' ? mirrored : madeFor === 'any' ? byHand : { ...byHand, [by]: SLICE_CONTROLLER };
  const annotations = typeof madeFor === 'object' ? { 'k8s.ovn.org/endpointslice-network': madeFor.network } : {};
  count += 1;
  return {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
    metadata: { namespace: ns, name: `${name}-${count}`, labels, annotations },
    endpoints: endpoints.map((one) => (typeof one === 'string' ? { addresses: [one] } : one)),
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    ...fields,
  };
};
const ending = (ip: string) => ({ addresses: [ip], conditions: { ready: false, serving: true, terminating: true } });
const mirror = { network: 'red_net' };

const itemsOf = (...objects: readonly unknown[]) => serviceItems(scene([...CLUSTER, ...objects]));
const tableOf = (objects: readonly unknown[], isWide = false) => {
  const seen = scene([...CLUSTER, ...objects]);
  return servicesOutput(serviceItems(seen), seen, { isWide });
};
const rowsOf = (...objects: readonly unknown[]) => tableOf(objects).tables[0]?.rows;
const noteOf = (...objects: readonly unknown[]) => rowsOf(...objects)?.[0]?.at(-1);

describe('a Service of a tenant', () => {
  const dual = service('red/web', {
    clusterIPs: ['10.96.0.2', 'fd00:96::2'],
    ports: [...HTTP, { name: 'dns', protocol: 'UDP', port: 53 }],
  });
  const ports = [
    { name: 'http', port: 8080 },
    { name: 'dns', protocol: 'UDP', port: 5353 },
  ];
  const slices = [
    slice('red/web', mirror, ['10.100.0.5', '10.100.0.6', ending('10.100.0.7')], { ports }),
    slice('red/web', mirror, [ending('fd00:100::7')], { ports, addressType: 'IPv6' }),
    slice('red/web', 'default', ['10.128.0.5'], { ports }),
    slice('red/web', { network: 'earlier_net' }, ['10.100.0.9'], { ports }),
    slice('red/other', mirror, ['10.100.0.8']),
  ];

  it('is on its network, where mirrors of that count', () => {
    expect(rowsOf(dual, ...slices)).toEqual([
      [
        ...['red', 'web', 'red_net', 'ClusterIP', '10.96.0.2\nfd00:96::2', '80/TCP\n53/UDP'],
        ...['2 ready, 1 terminating\n0 ready, 1 terminating', ''],
      ],
    ]);
  });

  it('has more in a wide table, and in data', () => {
    const { tables, data } = tableOf([dual, ...slices], true);
    const wide = Object.fromEntries(tables[0]?.head.map((head, index) => [head, tables[0]?.rows[0]?.[index]]) ?? []);
    expect(wide).toMatchObject({ AGE: '90s' });
    expect(wide['SENDS TO']?.split('\n')).toEqual([
      '10.96.0.2:80/TCP → 10.100.0.5:8080, 10.100.0.6:8080',
      '10.96.0.2:53/UDP → 10.100.0.5:5353, 10.100.0.6:5353',
      '[fd00:96::2]:80/TCP → [fd00:100::7]:8080',
      '[fd00:96::2]:53/UDP → [fd00:100::7]:5353',
    ]);
    const http = { name: 'http', protocol: 'TCP', port: 80 };
    expect(JSON.parse(JSON.stringify(data))).toMatchObject({
      items: [
        {
          ...{ namespace: 'red', name: 'web', state: 'served', network: 'red_net', type: 'ClusterIP' },
          ports: [http, { name: 'dns', protocol: 'UDP', port: 53 }],
          clusterIps: [
            {
              ...{ ip: '10.96.0.2', ready: 2, terminating: 1 },
              ports: [{ ...http, backends: ['10.100.0.5:8080', '10.100.0.6:8080'] }, { port: 53 }],
            },
            { ip: 'fd00:96::2', ready: 0, terminating: 1 },
          ],
          ...{ notProgrammed: [], notes: [] },
        },
      ],
    });
  });

  it('leaves out addresses that are none of its network, and says so', () => {
    const strange = slice('red/web', 'any', ['10.100.0.5', '10.128.0.5', '172.20.0.3', ending('10.128.0.5')]);
    const [row] = rowsOf(service('red/web'), strange) ?? [];
    expect(row?.slice(6)).toEqual(['1 ready', 'left out, no address of network red_net: 10.128.0.5, 172.20.0.3']);
  });

  it('has endpoints that nobody has mirrored', () => {
    const [row] = rowsOf(service('red/web'), slice('red/web', 'default', ['10.128.0.5', '10.128.0.6'])) ?? [];
    expect(row?.slice(6)).toEqual([
      'none: connections are rejected',
      'Kubernetes has 2 ready on the default network, but no slice has their addresses on network red_net',
    ]);
  });

  it('waits for its network, which says why', () => {
    const blue = service('blue/web', {}, {}, { namespace: 'blue' });
    expect(rowsOf(tenant('blue'), blue)).toEqual([
      [
        ...['blue', 'web', '-', 'ClusterIP', '10.96.0.2', '80/TCP', '-'],
        'waits for its network: namespace blue requires a primary network, but none exists: it has no UserDefinedNetwork, and no ClusterUserDefinedNetwork selects it',
      ],
    ]);
    const young = settledNetwork(layer2Udn('blue/net', ['10.101.0.0/16']));
    const nad = nadOf(young, 'blue', {}, { annotations: {} });
    expect(itemsOf(tenant('blue'), young, nad, blue)).toMatchObject([{ state: 'waiting', cause: 'id-missing' }]);
    expect(itemsOf(service('gone/web'))).toMatchObject([
      { state: 'unknown', notes: ['unknown network: namespace gone does not exist'] },
    ]);
  });
});

describe('a Service of the default network', () => {
  it('has the endpoints of Kubernetes’ own slices, and of those by hand, also nodes', () => {
    const slices = [
      slice('plain/web', 'default', ['10.128.0.5', '10.128.0.6']),
      slice('plain/web', 'any', ['172.20.0.3', '10.128.0.6']),
      slice('plain/web', mirror, ['10.100.0.5']),
    ];
    expect(rowsOf(service('plain/web'), ...slices)).toEqual([
      ['plain', 'web', 'default', 'ClusterIP', '10.96.0.2', '80/TCP', '3 ready', ''],
    ]);
  });

  it('sends nothing to what is nobody’s, or the host’s own', () => {
    const slices = [slice('plain/web', 'any', ['127.0.0.1', '169.254.1.1'])];
    const [row] = rowsOf(service('plain/web'), ...slices) ?? [];
    expect(row?.slice(6)).toEqual([
      'none: connections are rejected',
      'left out, traffic to this address is not allowed: 127.0.0.1, 169.254.1.1',
    ]);
  });

  it('without endpoints is refused, and a port without any, too', () => {
    const both = { ports: [...HTTP, { name: 'other', port: 81 }] };
    expect(rowsOf(service('plain/web', both))?.[0]?.slice(6)).toEqual(['none: connections are rejected', '']);
    expect(rowsOf(service('plain/web', both), slice('plain/web', 'default', ['10.128.0.5']))?.[0]?.slice(6)).toEqual([
      '1 ready',
      'no endpoints, connections are rejected: 10.96.0.2:81/TCP',
    ]);
    const wrong = { ports: [{ name: 'none-of-its-ports', port: 1 }] };
    const named = slice('plain/web', 'default', ['10.128.0.5'], wrong);
    expect(rowsOf(service('plain/web'), named)?.[0]?.[6]).toBe('none: connections are rejected');
  });
});

describe('a Service that nothing is programmed for', () => {
  it.each([
    ['headless', { clusterIP: 'None', clusterIPs: ['None'] }, {}, ['None', ''], 'headless: resolved by DNS only'],
    [
      'a name',
      { type: 'ExternalName', externalName: 'db.example.com', clusterIPs: [] },
      {},
      ['', ''],
      'ExternalName db.example.com: resolved by DNS only',
    ],
    [
      'of another proxy',
      {},
      { labels: { 'service.kubernetes.io/service-proxy-name': 'mine' } },
      ['10.96.0.2', ''],
      'programmed by mine, not by ovn-udn',
    ],
  ])('%s', (_, spec, metadata, [ips, endpoints], note) => {
    const [row] = rowsOf(service('plain/web', spec, {}, metadata)) ?? [];
    expect([row?.[2], row?.[4], row?.[6], row?.[7]]).toEqual(['', ips, endpoints, note]);
  });

  it('has no ClusterIP yet', () => {
    expect(itemsOf(service('plain/web', { clusterIP: '', clusterIPs: null }))).toMatchObject([
      { state: 'waiting', network: 'default', notes: ['has no ClusterIP yet'] },
    ]);
  });
});

it.each([
  [
    'kube-system/kube-dns',
    namespace('kube-system'),
    'reachable from pods of all networks, unless --udn-allowed-default-services excludes it',
  ],
  ['kube-system/metrics', namespace('kube-system'), ''],
  ['kube-system/kube-dns', tenant('kube-system'), 'waits for its network'],
])('%s (%#) says whom it is for', (key, inNamespace, note) => {
  expect(noteOf(inNamespace, service(key), slice(key, 'any', ['192.0.2.1']))).toMatch(
    new RegExp(note ? `^${note}` : '^$'),
  );
});

it('what is not programmed yet is named', () => {
  const asks = service(
    'plain/web',
    {
      type: 'LoadBalancer',
      ports: [
        { name: 'http', port: 80, nodePort: 30080 },
        { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 },
      ],
      externalIPs: ['192.0.2.1', '192.0.2.2'],
      ...{ externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Local', healthCheckNodePort: 31_000 },
      trafficDistribution: 'PreferClose',
    },
    {
      status: {
        loadBalancer: { ingress: [{ ip: '192.0.2.9' }, { ip: '192.0.2.8', ipMode: 'Proxy' }, { hostname: 'x' }] },
      },
    },
    { annotations: { 'service.kubernetes.io/topology-mode': 'Auto', 'k8s.ovn.org/idled-at': '2026-05-01T00:00:00Z' } },
  );
  expect(noteOf(asks)).toBe('not programmed yet: waiting to be unidled: its workload is scaled to zero');
  const asDefault = { internalTrafficPolicy: 'Cluster', externalTrafficPolicy: 'Cluster', sessionAffinity: 'ClientIP' };
  expect(noteOf(service('plain/web', asDefault))).toBe('');
});

it('an address outside that an older Service has is reported at the other', () => {
  const at = (seconds: number) => ({ creationTimestamp: new Date(NOW - seconds * 1000).toISOString() });
  const spec = { externalIPs: ['192.0.2.1'] };
  const rows = rowsOf(
    service('plain/a', spec, {}, at(10)),
    service('plain/b', spec, {}, at(20)),
    service('plain/c', { ...spec, ports: [{ port: 81 }] }, {}, at(5)),
    service('red/a', { externalIPs: ['127.0.0.1'] }),
  );
  const notes = rows?.map((row) => row.at(-1)?.split('\n')[0]);
  expect(notes).toEqual([
    'not reachable at 192.0.2.1:80/TCP: Service plain/b has it',
    '',
    '',
    'not reachable at 127.0.0.1: inside the cluster, where it would capture the traffic of others',
  ]);
});

describe('objects that cannot be read', () => {
  const web = service('red/web');

  it('are a row with the error, and keep nothing else from being shown', () => {
    const rows = rowsOf(
      service('plain/odd', { ports: [{ port: 99_999 }] }),
      service('plain/none', {}, { spec: 5 }),
      web,
    );
    expect(rows?.map((row) => row.slice(0, 2).join('/'))).toEqual(['plain/none', 'plain/odd', 'red/web']);
    expect(rows?.[0]?.slice(2)).toEqual(['', '', '', '', '', expect.stringMatching(/^cannot be read: spec: /)]);
    expect(rows?.[1]?.at(-1)).toMatch(/^cannot be read: spec\.ports\[0\]\.port: /);
  });

  it('are named where they have no name to be shown by', () => {
    const { data } = tableOf([{ kind: 'Service', metadata: { name: 5 } }, { kind: 'EndpointSlice' }, web]);
    expect(data).toMatchObject({
      items: [{ name: 'web' }],
      unusable: [expect.stringMatching(/^Service .*metadata/), expect.stringMatching(/^EndpointSlice .*metadata/)],
    });
  });

  it('slices are reported at their Service, and the others count', () => {
    const good = slice('red/web', mirror, ['10.100.0.5', 'nonsense']);
    const bad = slice('red/web', mirror, [{ addresses: 'nonsense' }]);
    const [row] = rowsOf(web, good, bad) ?? [];
    expect(row?.[6]).toBe('1 ready');
    expect(row?.[7]?.split('\n')).toEqual([
      `EndpointSlice/red/${good.metadata.name}: "nonsense" is not an IP address`,
      expect.stringMatching(`^EndpointSlice/red/${bad.metadata.name} cannot be read: endpoints`),
    ]);
  });
});

it('whatever a Service or a slice has in it, there is a table', () => {
  const metadata = fc.record(
    {
      namespace: fc.constantFrom('red', 'plain', 5),
      name: fc.constant('web'),
      labels: fc.object(),
      annotations: fc.anything(),
    },
    { requiredKeys: [] },
  );
  const spec = fc.record(
    {
      type: fc.constantFrom('NodePort', 'x'),
      clusterIPs: fc.oneof(fc.constant(['10.96.0.2']), fc.anything()),
      ports: fc.oneof(fc.array(fc.record({ port: fc.integer(), nodePort: fc.anything() })), fc.anything()),
      externalIPs: fc.anything(),
    },
    { requiredKeys: [] },
  );
  const some = fc.record({
    kind: fc.constant('Service'),
    metadata,
    spec: fc.oneof(spec, fc.anything()),
    status: fc.anything(),
  });
  const other = fc.record({
    kind: fc.constant('EndpointSlice'),
    metadata,
    addressType: fc.constantFrom('IPv4', 'x'),
    endpoints: fc.oneof(
      fc.array(fc.record({ addresses: fc.array(fc.string()), conditions: fc.anything() })),
      fc.anything(),
    ),
  });
  fc.assert(fc.property(fc.array(fc.oneof(some, other)), (objects) => void tableOf(objects)));
});
