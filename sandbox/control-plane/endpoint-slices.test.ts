import { expect, it } from 'vitest';
import { type PodFacts, type ServiceFacts, slicesOf } from './endpoint-slices.ts';

const service = (overrides: Partial<ServiceFacts> = {}): ServiceFacts => ({
  namespace: 'ns',
  name: 'web',
  uid: 's-1',
  selector: { app: 'web' },
  families: [4],
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, appProtocol: undefined }],
  publishNotReady: false,
  isHeadless: false,
  ...overrides,
});
const pod = (name: string, overrides: Partial<PodFacts> = {}): PodFacts => ({
  namespace: 'ns',
  name,
  uid: `u-${name}`,
  nodeName: 'node-1',
  labels: { app: 'web', more: 'x' },
  addresses: ['10.0.0.1', 'fd00::1'],
  isReady: true,
  isTerminating: false,
  ports: {},
  ...overrides,
});

const shape = (slices: ReturnType<typeof slicesOf>) =>
  slices.map((slice) => ({
    name: slice.metadata.name,
    ports: (slice['ports'] as { port: number }[]).map(({ port }) => port),
    endpoints: (slice['endpoints'] as { addresses: string[]; conditions: Record<string, boolean> }[]).map(
      ({ addresses, conditions }) => `${addresses} ${Object.keys(conditions).filter((name) => conditions[name])}`,
    ),
  }));

it('makes a slice as kube-controller-manager does', () => {
  expect(slicesOf(service(), [pod('a')])).toEqual([
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'web-ipv4-1',
        namespace: 'ns',
        labels: {
          'kubernetes.io/service-name': 'web',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 's-1', controller: true, blockOwnerDeletion: true },
        ],
      },
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['10.0.0.1'],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: 'node-1',
          targetRef: { kind: 'Pod', namespace: 'ns', name: 'a', uid: 'u-a' },
        },
      ],
      ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    },
  ]);
});

it.each([
  [
    'both families',
    service({ families: [6, 4] }),
    [pod('a')],
    [
      { name: 'web-ipv6-1', ports: [8080], endpoints: ['fd00::1 ready,serving'] },
      { name: 'web-ipv4-1', ports: [8080], endpoints: ['10.0.0.1 ready,serving'] },
    ],
  ],
  ['an empty slice without pods', service(), [], [{ name: 'web-ipv4-1', ports: [], endpoints: [] }]],
  [
    'no pods of other namespaces or labels',
    service(),
    [pod('a', { namespace: 'x' }), pod('b', { labels: {} })],
    [{ name: 'web-ipv4-1', ports: [], endpoints: [] }],
  ],
  [
    'pods without an address of the family are left out',
    service(),
    [pod('a', { addresses: ['fd00::1'] })],
    [{ name: 'web-ipv4-1', ports: [], endpoints: [] }],
  ],
  [
    'conditions',
    service(),
    [pod('a', { isReady: false }), pod('b', { isTerminating: true })],
    [{ name: 'web-ipv4-1', ports: [8080], endpoints: ['10.0.0.1 ', '10.0.0.1 serving,terminating'] }],
  ],
  [
    'publishNotReadyAddresses',
    service({ publishNotReady: true }),
    [pod('a', { isReady: false })],
    [{ name: 'web-ipv4-1', ports: [8080], endpoints: ['10.0.0.1 ready,serving'] }],
  ],
  [
    'pods with different named ports are in different slices',
    service({ ports: [{ name: '', protocol: 'TCP', port: 80, targetPort: 'http', appProtocol: undefined }] }),
    [pod('a', { ports: { http: 1 } }), pod('b', { ports: { http: 2 } }), pod('c', { ports: { http: 1 } }), pod('d')],
    [
      { name: 'web-ipv4-1', ports: [1], endpoints: ['10.0.0.1 ready,serving', '10.0.0.1 ready,serving'] },
      { name: 'web-ipv4-2', ports: [2], endpoints: ['10.0.0.1 ready,serving'] },
      { name: 'web-ipv4-3', ports: [], endpoints: ['10.0.0.1 ready,serving'] },
    ],
  ],
])('%s', (_, given, pods, expected) => expect(shape(slicesOf(given, pods))).toEqual(expected));

it('many pods are split', () => {
  const pods = Array.from({ length: 250 }, (_, i) => pod(`p${i}`));
  expect(shape(slicesOf(service(), pods)).map(({ endpoints }) => endpoints.length)).toEqual([100, 100, 50]);
});
