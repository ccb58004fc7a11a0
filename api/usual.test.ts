import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import { parseEndpointSlice, sliceSchema } from './endpoint-slice.ts';
import { ApiError } from './errors.ts';
import { parseNetworkPolicy, policySchema } from './network-policy.ts';
import { parseService, serviceSchema } from './service.ts';
import { usualEndpointSlice } from './usual-endpoint-slice.ts';
import { usualNetworkPolicy } from './usual-network-policy.ts';
import { usualService } from './usual-service.ts';

const METADATA = {
  name: 'web',
  namespace: 'app',
  uid: '1b4e28ba-2fa1-11d2-883f-0016d3cca427',
  generation: 3,
  resourceVersion: '4711',
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels: { app: 'web', 'kubernetes.io/service-name': 'web' },
  annotations: { note: 'any' },
  finalizers: ['service.kubernetes.io/load-balancer-cleanup'],
  ownerReferences: [
    { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'u', controller: true, blockOwnerDeletion: true },
  ],
  managedFields: [{ manager: 'kube-controller-manager', operation: 'Update', fieldsV1: { 'f:spec': {} } }],
};

const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: METADATA,
  spec: {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7', 'fd02::7'],
    ipFamilies: ['IPv4', 'IPv6'],
    ports: [
      { name: 'http', protocol: 'TCP', port: 80, targetPort: 'web', nodePort: 30_080 },
      { name: 'dns', protocol: 'UDP', port: 53 },
    ],
    externalIPs: ['192.0.2.7'],
    externalTrafficPolicy: 'Local',
    internalTrafficPolicy: 'Cluster',
    healthCheckNodePort: 32_000,
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    selector: { app: 'web' },
  },
  status: { loadBalancer: { ingress: [{ ip: '203.0.113.7', ipMode: 'VIP' }, { hostname: 'lb.example' }] } },
};

const SLICE = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: METADATA,
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: ['10.20.0.5'],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'node-1',
      zone: 'a',
      hints: { forZones: [{ name: 'a' }], forNodes: [{ name: 'node-1' }] },
      targetRef: { kind: 'Pod', namespace: 'app', name: 'web-1', uid: 'p' },
    },
    { addresses: [], conditions: {}, deprecatedTopology: { a: 'b' } },
  ],
  ports: [{ name: 'http', protocol: 'TCP', port: 8080, appProtocol: 'h2c' }],
};

const POLICY = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: METADATA,
  spec: {
    podSelector: {
      matchLabels: { app: 'web', 'example.com/tier': 'front' },
      matchExpressions: [
        { key: 'zone', operator: 'In', values: ['a', 'b'] },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      {
        from: [
          { namespaceSelector: { matchLabels: { team: 'red' } }, podSelector: {} },
          { podSelector: { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['c'] }] } },
          { ipBlock: { cidr: '10.0.0.7/24', except: ['10.0.0.9/28'] } },
        ],
        ports: [{ protocol: 'TCP', port: 80, endPort: 90 }, { port: 'http' }],
      },
    ],
    egress: [{ to: [{ namespaceSelector: {} }], ports: [{ protocol: 'UDP' }] }, {}],
  },
};

/** What is put anywhere into an object, in place of what is there. */
const unusualValues = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -0,
    -1,
    1,
    1.5,
    65_535,
    65_536,
    86_401,
    2 ** 53,
    1e300,
    [],
    {},
    [null],
    [[]],
    {},
  ),
  fc.constantFrom('', 'None', 'Ingress', 'In', 'Exists', 'a/b/c', 'two--dashes', '10.0.0.0/8', '10.0.0.16/28', '::/0'),
  fc.constantFrom('None', 'Local', 'local', 'UDP', 'udp', 'IPv6', 'FQDN', 'ExternalName', 'ClientIP', 'Proxy'),
  fc.constantFrom('10.20.0.05', '010.1.2.3', 'FD02:0::7', '::ffff:1.2.3.4', '64:ff9b::1.2.3.4', 'fe80::1%eth0', '1'),
  fc.constant(JSON.parse('{"__proto__": {"ready": false}, "name": "x"}')),
  fc.jsonValue(),
);

/** Where something can be changed: each field of each object, and each item of each list. */
const pathsOf = (value: unknown): readonly (readonly string[])[] =>
  typeof value !== 'object' || value === null
    ? [[]]
    : [[], ...Object.entries(value).flatMap(([key, item]) => pathsOf(item).map((path) => [key, ...path]))];

/** @param by undefined: the field is left out */
const changed = (value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown => {
  if (key === undefined) return by;
  if (typeof value !== 'object' || value === null) return value;
  const copy: unknown = Array.isArray(value) ? [...value] : { ...value };
  const item = changed(Reflect.get(value, key), rest, by);
  if (item === undefined && !Array.isArray(copy)) Reflect.deleteProperty(copy as object, key);
  else Reflect.set(copy as object, key, item);
  return copy;
};

const changesOf = (object: object): fc.Arbitrary<unknown> =>
  fc
    .array(fc.tuple(fc.constantFrom(...pathsOf(object)), fc.option(unusualValues, { nil: undefined, freq: 4 })), {
      maxLength: 3,
    })
    .map((changes) => changes.reduce<unknown>((value, [path, by]) => changed(value, path, by), object));

it.each<[string, object, z.ZodType, (value: unknown) => unknown, (value: unknown) => unknown]>([
  ['Services', SERVICE, serviceSchema, usualService, parseService],
  ['EndpointSlices', SLICE, sliceSchema, usualEndpointSlice, parseEndpointSlice],
  ['NetworkPolicies', POLICY, policySchema, usualNetworkPolicy, parseNetworkPolicy],
])('%s that are read without the schema are what the schema reads', (_, object, schema, usual, parse) => {
  let read = 0;
  fc.assert(
    fc.property(changesOf(object), (value) => {
      const want = schema.safeParse(value);
      const got = usual(value);
      if (got !== undefined) {
        read += 1;
        expect(want.success).toBe(true);
        expect(got).toEqual(want.data);
      }
      if (!want.success) expect(() => parse(value)).toThrow(ApiError);
      else expect(() => parse(value)).not.toThrow();
    }),
    { numRuns: 2000 },
  );
  // What is changed in places that nobody looks at is read, too.
  expect(read).toBeGreaterThan(200);
});

it.each<[string, object]>([
  ['with everything', SERVICE],
  ['that is headless', { ...SERVICE, spec: { clusterIP: 'None', clusterIPs: ['None'] } }],
  ['with almost nothing', { metadata: { name: 'web', namespace: 'app' }, spec: {} }],
  ['that has no status yet', { ...SERVICE, status: {} }],
])('a Service %s needs no schema', (_, object) => {
  expect(usualService(object)).toEqual(serviceSchema.parse(object));
});

it.each<[string, object]>([
  ['with everything', SLICE],
  ['without endpoints', { ...SLICE, endpoints: null, ports: null }],
  ['whose endpoints say nothing', { ...SLICE, endpoints: [{ addresses: ['10.20.0.5'], conditions: null }] }],
])('an EndpointSlice %s needs no schema', (_, object) => {
  expect(usualEndpointSlice(object)).toEqual(sliceSchema.parse(object));
});

it.each<[string, object]>([
  ['with everything', POLICY],
  ['that isolates all pods', { ...POLICY, spec: { podSelector: {} } }],
  ['that allows everything', { ...POLICY, spec: { podSelector: null, ingress: [{}], egress: null } }],
])('a NetworkPolicy %s needs no schema', (_, object) => {
  expect(usualNetworkPolicy(object)?.spec).toStrictEqual(policySchema.parse(object).spec);
});
