import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import type { KubeObject } from '../../kube/types.ts';
import { FactStore } from '../model/fact-store.ts';
import type { NamespaceFact, ServiceFact } from '../model/facts.ts';
import { feedFacts } from './fact-feeder.ts';
import type { NadProjection } from './nad-projection.ts';
import type { NodeProjection } from './node-projection.ts';
import type { PodProjection } from './pod-projection.ts';
import { projectService } from './service-projection.ts';
import { projectSlice, SLICE_INDEXES, type SliceProjection } from './slice-projection.ts';

const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const OF_SERVICE = { 'kubernetes.io/service-name': 'web' };

const slice = (
  labels: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, unknown>> = {},
  name = 'web-1',
): KubeObject => ({
  metadata: {
    namespace: 'red',
    name,
    uid: name,
    resourceVersion: '1',
    labels,
    annotations: { 'k8s.ovn.org/endpointslice-network': 'red_net' },
  },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.3', '10.0.0.4'] }],
  ports: [{ name: 'http', protocol: 'TCP', port: 8080, appProtocol: 'http' }],
  ...fields,
});

const HTTP = { name: 'http', protocol: 'TCP', port: 8080 };

it.each([
  ['Kubernetes', { ...OF_SERVICE, [MANAGED_BY]: 'endpointslice-controller.k8s.io' }, { madeFor: 'default' }],
  ['somebody by hand', OF_SERVICE, { madeFor: 'any' }],
  [
    'the cluster manager',
    { 'k8s.ovn.org/service-name': 'web', [MANAGED_BY]: 'endpointslice-mirror-controller.k8s.ovn.org' },
    { madeFor: 'primary', network: 'red_net' },
  ],
  [
    'somebody by hand for a primary network',
    { 'k8s.ovn.org/service-name': 'web', [MANAGED_BY]: 'hypershift' },
    { madeFor: 'any', network: 'red_net' },
  ],
  [
    'somebody by hand with both labels',
    { 'k8s.ovn.org/service-name': 'web', ...OF_SERVICE },
    { madeFor: 'any', network: 'red_net' },
  ],
])('one that %s has written is of its Service', (_, labels, purpose) => {
  expect(projectSlice(slice(labels))).toEqual({
    service: 'red/web',
    fact: { name: 'web-1', ...purpose, family: 4, ports: [HTTP], ready: [{ ip: '10.0.0.3' }], terminating: [] },
    problems: [],
  });
});

it.each([
  ['of no Service', slice({})],
  [
    'of a mirror that says no Service',
    slice({ ...OF_SERVICE, [MANAGED_BY]: 'endpointslice-mirror-controller.k8s.ovn.org' }),
  ],
  ['with names', slice(OF_SERVICE, { addressType: 'FQDN', endpoints: [{ addresses: ['example.com'] }] })],
  ['of a headless Service', slice({ ...OF_SERVICE, 'service.kubernetes.io/headless': '' })],
  ['of a Service of another proxy', slice({ ...OF_SERVICE, 'service.kubernetes.io/service-proxy-name': 'mesh' })],
])('nothing is kept of one %s', (_, object) => {
  expect(projectSlice(object)).toBeUndefined();
});

it('one by hand for a primary network that names none counts on none, and says so', () => {
  const object = slice({ 'k8s.ovn.org/service-name': 'web' });
  const unnamed = { ...object, metadata: { ...object.metadata, annotations: {} } };
  const projection = projectSlice(unnamed);
  expect(projection?.fact.network).toBe('');
  expect(projection?.problems.map(({ message }) => message)).toEqual([
    'has no annotation k8s.ovn.org/endpointslice-network, so it belongs to no network',
  ]);
});

it('endpoints are those that answer; the ones that are about to end are kept apart', () => {
  const endpoint = (ip: string, ready?: boolean, serving?: boolean, terminating?: boolean) => ({
    addresses: [ip],
    conditions: { ready, serving, terminating },
  });
  const endpoints = [
    endpoint('10.0.0.1', true, true, false),
    endpoint('10.0.0.2', false, false, false),
    endpoint('10.0.0.3', false, true, true),
    endpoint('10.0.0.4', false, false, true),
    // Its Service publishes those that are not ready.
    endpoint('10.0.0.5', true, true, true),
    endpoint('10.0.0.6', false, true, false),
    endpoint('10.0.0.7'),
    { addresses: [] },
  ];
  expect(projectSlice(slice(OF_SERVICE, { endpoints }))?.fact).toMatchObject({
    ready: [{ ip: '10.0.0.1' }, { ip: '10.0.0.5' }, { ip: '10.0.0.7' }],
    terminating: [{ ip: '10.0.0.3' }],
  });
});

it('what is wrong in one is reported and left out, a few of it', () => {
  const bad = ['fd00::1', '10.0.0.0/8', '', '010.0.0.1', 'x'].map((ip) => ({ addresses: [ip] }));
  const found = projectSlice(
    slice(OF_SERVICE, {
      endpoints: [...bad, { addresses: ['10.0.0.3'] }],
      ports: [{ port: null }, { name: '', port: 53, protocol: 'UDP' }, { port: 0 }, { port: 70_000 }],
    }),
  );
  expect(found?.fact).toMatchObject({ ready: [{ ip: '10.0.0.3' }], ports: [{ name: '', protocol: 'UDP', port: 53 }] });
  expect(found?.problems.map(({ object, message }) => `${object}: ${message}`)).toEqual([
    'EndpointSlice/red/web-1: port 0/undefined is not a port to forward to',
    'EndpointSlice/red/web-1: port 70000/undefined is not a port to forward to',
    'EndpointSlice/red/web-1: "fd00::1" is not an IPv4 address',
    'EndpointSlice/red/web-1: and 4 more like these',
  ]);
  expect(() => projectSlice(slice(OF_SERVICE, { endpoints: 'none' }))).toThrow(/endpoints/);
});

it('a Service of another proxy, or without an address, is none of ours', () => {
  const service = (spec: object, labels = {}): KubeObject => ({
    metadata: { namespace: 'red', name: 'web', uid: 'u', resourceVersion: '1', labels },
    spec,
  });
  const spec = { clusterIPs: ['10.96.0.7'], ports: [{ port: 80 }] };
  expect(projectService(service(spec))).toMatchObject({ namespace: 'red', name: 'web', clusterIps: ['10.96.0.7'] });
  expect(projectService(service(spec, { 'service.kubernetes.io/service-proxy-name': 'mesh' }))).toBeUndefined();
  expect(projectService(service({ clusterIP: 'None' }))).toBeUndefined();
});

it('all slices of a Service are one fact, in the order of their names, which others do not change', () => {
  const slices = createStaticCache<SliceProjection, 'service'>([], SLICE_INDEXES);
  const facts = new FactStore();
  const caches = {
    nodes: createStaticCache<NodeProjection>(),
    namespaces: createStaticCache<NamespaceFact>(),
    nads: createStaticCache<NadProjection>(),
    pods: createStaticCache<PodProjection>(),
    services: createStaticCache<ServiceFact>(),
    slices,
  };
  const settings = {
    node: 'n1',
    cluster: parseClusterConfig(),
    encapIps: [],
    southboundRemote: '',
    networkRendering: 'always' as const,
    allowedDefaultServices: [],
  };
  const feeder = feedFacts(facts, caches, settings);
  const put = (name: string, service = 'web'): void => {
    const projection = projectSlice(slice({ 'kubernetes.io/service-name': service }, {}, name));
    if (projection !== undefined) slices.set(`red/${name}`, projection);
  };
  const names = (service: string) => facts.get('serviceSlices', `red/${service}`)?.map(({ name }) => name);
  put('b');
  put('a');
  put('c', 'other');
  expect([names('web'), names('other')]).toEqual([['a', 'b'], ['c']]);
  const before = facts.get('serviceSlices', 'red/web');
  put('a', 'other');
  expect([names('web'), names('other')]).toEqual([['b'], ['a', 'c']]);
  expect(facts.get('serviceSlices', 'red/web')?.[0]).toBe(before?.[1]);
  slices.remove('red/b');
  expect(names('web')).toBeUndefined();
  feeder.stop();
});

it('an endpoint says where it runs and whom it is meant for', () => {
  const hints = { forZones: [{ name: 'west' }], forNodes: [{ name: 'node1' }, { name: 'node2' }] };
  const endpoints = [
    { addresses: ['10.0.0.1'], nodeName: 'node1', hints },
    { addresses: ['10.0.0.2'], nodeName: null, hints: { forZones: [] } },
  ];
  const found = projectSlice({
    metadata: { namespace: 'red', name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints,
    ports: [],
  });
  expect(found?.fact.ready).toEqual([
    { ip: '10.0.0.1', node: 'node1', forZones: ['west'], forNodes: ['node1', 'node2'] },
    { ip: '10.0.0.2' },
  ]);
});
