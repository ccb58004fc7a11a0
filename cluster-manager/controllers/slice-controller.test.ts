import { expect, it } from 'vitest';
import { ENDPOINT_SLICES, NAMESPACES } from '../../kube/resources.ts';
import type { KubeObject, ObjectInput } from '../../kube/types.ts';
import { mirrorName } from '../render/mirrored-slice.ts';
import type { TestClusterOptions } from '../testing/harness.ts';
import { layer2Udn, nad, namespace, netConf, node, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster, reopen } = clusterPerTest();
const { addressOf } = observe(() => cluster);

const SOURCE = 'endpointslice-controller.k8s.io';
const MIRROR = 'endpointslice-mirror-controller.k8s.ovn.org';

interface SliceOptions {
  readonly pods?: readonly string[];
  readonly addressType?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Of Service `web`, as its controller writes it: with the pods' addresses on the default network. */
const slice = (key: string, { pods = [], addressType = 'IPv4', labels = {} }: SliceOptions = {}): ObjectInput => {
  const [ns = '', name = ''] = key.split('/');
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name,
      namespace: ns,
      generateName: 'web-',
      labels: { 'endpointslice.kubernetes.io/managed-by': SOURCE, 'kubernetes.io/service-name': 'web', ...labels },
    },
    addressType,
    endpoints: pods.map((target, index) => ({
      addresses: [`10.128.0.${index + 5}`],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'n1',
      zone: 'zone-a',
      targetRef: { kind: 'Pod', namespace: ns, name: target },
    })),
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  };
};

const mirrors = async (): Promise<KubeObject[]> =>
  (await cluster.list('EndpointSlice')).filter(
    ({ metadata }) => metadata.labels?.['endpointslice.kubernetes.io/managed-by'] === MIRROR,
  );

const addressesIn = ({ endpoints }: KubeObject): string[] =>
  (endpoints as { addresses: string[] }[]).flatMap(({ addresses }) => addresses);

const bare = async (key: string): Promise<string | undefined> => (await addressOf(key, 'red/net'))?.split('/')[0];

/** Namespace `red` with a layer-2 network and two pods on it. */
const startRed = async (): Promise<void> => {
  await cluster.create(node('n1'), tenant('red'), layer2Udn('red/net', ['100.200.0.0/24']));
  await cluster.create(pod('red/a'), pod('red/b'));
  cluster.start();
  await cluster.settled();
};

/** With another cluster than the one that each test has. */
const startOther = async (options: TestClusterOptions): Promise<void> => {
  await reopen(options);
  await startRed();
};

const dropEndpointAndLabel = async (): Promise<void> => {
  const { endpoints } = slice('red/web-1', { pods: ['b'] });
  await cluster.patch('EndpointSlice', 'red/web-1', { endpoints, metadata: { labels: { tier: null } } });
  await cluster.settled();
};

it('has the addresses of the primary network, and all else of the source', async () => {
  await startRed();
  await cluster.createAndSettle(slice('red/web-abc12', { pods: ['a', 'b'], labels: { app: 'shop' } }));
  const [mirror, ...others] = await mirrors();
  expect(others).toEqual([]);
  const source = await cluster.get('EndpointSlice', 'red/web-abc12');
  expect(mirror?.metadata).toMatchObject({
    namespace: 'red',
    labels: {
      app: 'shop',
      'endpointslice.kubernetes.io/managed-by': MIRROR,
      'k8s.ovn.org/service-name': 'web',
    },
    annotations: {
      'k8s.ovn.org/endpointslice-network': 'red_net',
      'k8s.ovn.org/source-endpointslice': 'web-abc12',
      'k8s.ovn.org/source-endpointslice-version': source?.metadata.resourceVersion,
    },
  });
  expect(mirror?.metadata.labels).not.toHaveProperty(['kubernetes.io/service-name']);
  expect(mirror?.['ports']).toEqual(source?.['ports']);
  const ofSource = source?.['endpoints'] as Record<string, unknown>[];
  expect(mirror?.['endpoints']).toEqual([
    { ...ofSource[0], addresses: [await bare('red/a')] },
    { ...ofSource[1], addresses: [await bare('red/b')] },
  ]);
});

it('writes once for one change of the endpoints, and nothing when everything is right', async () => {
  await startRed();
  await cluster.createAndSettle(slice('red/web-1', { pods: ['a'] }));
  const [first] = await mirrors();
  const { endpoints } = slice('red/web-1', { pods: ['a', 'b'] });
  await cluster.patchAndSettle('EndpointSlice', 'red/web-1', { endpoints });
  const [second] = await mirrors();
  expect(addressesIn(second as KubeObject)).toEqual([await bare('red/a'), await bare('red/b')]);
  expect(second?.metadata.generation).toBe(Number(first?.metadata.generation) + 1);
  await cluster.stop();
  cluster.start();
  await cluster.settled();
  expect(await mirrors()).toEqual([second]);
  const written = cluster.observations.filter(
    (one) => one.source === 'writer' && one.about.kind === 'written' && one.about.resource === ENDPOINT_SLICES,
  );
  expect(written).toHaveLength(2);
});

it('loses what its source no longer says, and keeps what others added', async () => {
  await startRed();
  await cluster.create(slice('red/web-1', { pods: ['a', 'b'], labels: { app: 'shop', tier: 'front' } }));
  await cluster.settled();
  const [created] = await mirrors();
  const key = `red/${created?.metadata.name}`;
  const owner = await cluster.get('Pod', 'red/b');
  const foreign = { apiVersion: 'v1', kind: 'Pod', name: 'b', uid: owner?.metadata.uid };
  const theirs = { labels: { mine: 'yes' }, annotations: { mine: 'yes' }, ownerReferences: [foreign] };
  await cluster.patch('EndpointSlice', key, { metadata: theirs });
  await cluster.settled();
  await dropEndpointAndLabel();
  const [changed] = await mirrors();
  expect(addressesIn(changed as KubeObject)).toEqual([await bare('red/b')]);
  expect(changed?.metadata).toMatchObject({ ...theirs, labels: { mine: 'yes', app: 'shop' } });
  expect(changed?.metadata.labels).not.toHaveProperty('tier');
});

it('takes the place of a slice that has its name and says nothing of the kind', async () => {
  await startRed();
  const labels = { 'endpointslice.kubernetes.io/managed-by': 'me', mine: 'yes' };
  await cluster.create(slice(`red/${mirrorName('red_net', 'web-1')}`, { pods: ['b'], labels }));
  await cluster.create(slice('red/web-1', { pods: ['a'] }));
  await cluster.settled();
  const [mirror] = await mirrors();
  expect(addressesIn(mirror as KubeObject)).toEqual([await bare('red/a')]);
  expect(mirror?.metadata.labels).toMatchObject({ mine: 'yes' });
  const failures = cluster.observations.filter(({ source, ...one }) => 'about' in one && one.about.kind === 'failed');
  expect(failures).toEqual([]);
});

it('is right after the answers to its creation and to its change were lost', async () => {
  let writes = 0;
  await startOther({
    fault: (resource) => {
      if (resource !== ENDPOINT_SLICES) return undefined;
      writes += 1;
      return writes % 2 === 1 ? { status: 500, isDone: true } : undefined;
    },
  });
  await cluster.create(slice('red/web-1', { pods: ['a'], labels: { tier: 'front' } }));
  await cluster.settled();
  expect((await mirrors()).map(addressesIn)).toEqual([[await bare('red/a')]]);
  await dropEndpointAndLabel();
  const [changed] = await mirrors();
  expect(addressesIn(changed as KubeObject)).toEqual([await bare('red/b')]);
  expect(changed?.metadata.labels).not.toHaveProperty('tier');
  expect(writes).toBe(4);
});

it('is there again when somebody deletes it while it is changed', async () => {
  await startOther({
    wire: (client) => ({
      ...client,
      patch: async (resource, ref, ...rest) => {
        if (resource === ENDPOINT_SLICES) await client.delete(resource, ref);
        return client.patch(resource, ref, ...rest);
      },
    }),
  });
  await cluster.create(slice('red/web-1', { pods: ['a'], labels: { tier: 'front' } }));
  await cluster.settled();
  await dropEndpointAndLabel();
  expect((await mirrors()).map(addressesIn)).toEqual([[await bare('red/b')]]);
});

const mirrorWrites = () =>
  cluster.observations.flatMap((one) =>
    one.source === 'writer' && one.about.resource === ENDPOINT_SLICES ? [one.about.kind] : [],
  );

const failures = () => cluster.observations.filter((one) => one.source === 'queue' && one.about.kind === 'failed');

it('is not tried again where the namespace is deleted while it is created', async () => {
  await startOther({
    wire: (client) => ({
      ...client,
      create: async (resource, ...rest) => {
        if (resource === ENDPOINT_SLICES) await client.delete(NAMESPACES, { name: 'red' });
        return client.create(resource, ...rest);
      },
    }),
  });
  // A namespace is there for as long as anything in it is.
  await cluster.patch('Pod', 'red/a', { metadata: { finalizers: ['example.org/hold'] } });
  await cluster.createAndSettle(slice('red/web-1', { pods: ['a'] }));
  expect([mirrorWrites(), failures()]).toEqual([['failed'], []]);
});

it('is not created in a namespace that is being deleted', async () => {
  let isEnding = false;
  const ended = ({ metadata, ...rest }: KubeObject): KubeObject => ({
    ...rest,
    metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  });
  await startOther({
    wire: (client) => ({
      ...client,
      list: async (resource, ...rest) => {
        const list = await client.list(resource, ...rest);
        return resource === NAMESPACES && isEnding ? { ...list, items: list.items.map(ended) } : list;
      },
    }),
  });
  await cluster.stop();
  await cluster.create(slice('red/web-1', { pods: ['a'] }));
  isEnding = true;
  cluster.start();
  await cluster.settled();
  expect([mirrorWrites(), failures()]).toEqual([[], []]);
});

it('has an endpoint as soon as its pod has an address there, and is not there without any', async () => {
  await startRed();
  await cluster.createAndSettle(slice('red/web-1', { pods: ['later'] }));
  expect(await mirrors()).toEqual([]);
  await cluster.createAndSettle(pod('red/later'));
  const [mirror] = await mirrors();
  expect(addressesIn(mirror as KubeObject)).toEqual([await bare('red/later')]);
  await cluster.patchAndSettle('EndpointSlice', 'red/web-1', { endpoints: [] });
  expect(await mirrors()).toEqual([]);
});

const hostPod = async (name: string, ips: readonly string[], nodeName = 'n1'): Promise<void> => {
  await cluster.create(pod(`red/${name}`, {}, { hostNetwork: true, nodeName }));
  await cluster.patch('Pod', `red/${name}`, { status: { podIPs: ips.map((ip) => ({ ip })) } }, 'status');
};

it('keeps the addresses of pods on their node’s network', async () => {
  await startRed();
  await hostPod('host', ['172.30.0.2', '10.128.0.5']);
  await cluster.createAndSettle(slice('red/web-1', { pods: ['host', 'a'] }));
  const [mirror] = await mirrors();
  expect(addressesIn(mirror as KubeObject)).toEqual(['10.128.0.5', await bare('red/a')]);
});

it('has no address of a node that the pod there does not say itself, and of no other node', async () => {
  await startRed();
  await hostPod('elsewhere', ['10.128.0.5'], 'n2');
  await hostPod('other', ['172.30.0.2']);
  await hostPod('new', []);
  await cluster.createAndSettle(slice('red/web-1', { pods: ['elsewhere', 'other', 'new', 'a'] }));
  expect((await mirrors()).flatMap(addressesIn)).toEqual([await bare('red/a')]);
  await cluster.patchAndSettle('Pod', 'red/new', { status: { podIPs: [{ ip: '10.128.0.7' }] } }, 'status');
  expect((await mirrors()).flatMap(addressesIn)).toEqual(['10.128.0.7', await bare('red/a')]);
});

it('does not take the address of another pod of the same name', async () => {
  await startRed();
  const wrong = slice('red/web-1', { pods: ['a', 'b'] });
  const [a, b] = wrong['endpoints'] as { targetRef: Record<string, unknown> }[];
  const uid = (await cluster.get('Pod', 'red/b'))?.metadata.uid;
  const endpoints = [
    { ...a, targetRef: { ...a?.targetRef, uid: 'of-the-one-before' } },
    { ...b, targetRef: { ...b?.targetRef, uid } },
  ];
  await cluster.createAndSettle({ ...wrong, endpoints });
  const [mirror] = await mirrors();
  expect(addressesIn(mirror as KubeObject)).toEqual([await bare('red/b')]);
});

it('leaves alone what is not its business', async () => {
  await startRed();
  await cluster.createAndSettle(
    namespace('plain'),
    pod('plain/a'),
    slice('plain/web-1', { pods: ['a'] }),
    slice('red/byhand', { pods: ['a'], labels: { 'endpointslice.kubernetes.io/managed-by': 'me' } }),
    slice('red/v6', { pods: ['a'], addressType: 'IPv6' }),
    slice('red/noservice', { pods: ['a'], labels: { 'kubernetes.io/service-name': '' } }),
    { ...slice('red/names', { addressType: 'FQDN' }), endpoints: [{ addresses: ['example.com'] }] },
  );
  expect(await mirrors()).toEqual([]);
  expect(await cluster.list('EndpointSlice')).toHaveLength(5);
});

it('is put right when somebody changes it, and there again when it is deleted', async () => {
  await startRed();
  await cluster.createAndSettle(slice('red/web-1', { pods: ['a'] }));
  const [mirror] = await mirrors();
  const key = `red/${mirror?.metadata.name}`;
  const shown = ({ addressType, endpoints, ports, metadata }: KubeObject) => {
    const { labels, annotations, ownerReferences } = metadata;
    return { addressType, endpoints, ports, labels, annotations, ownerReferences };
  };
  const right = shown(mirror as KubeObject);
  const changes = [
    { endpoints: [{ addresses: ['192.0.2.1'] }] },
    { metadata: { labels: { 'k8s.ovn.org/service-name': 'other' } } },
    { metadata: { labels: { 'endpointslice.kubernetes.io/managed-by': 'me' } } },
    { metadata: { annotations: { 'k8s.ovn.org/source-endpointslice': 'other' } } },
    { ports: [] },
  ];
  for (const change of changes) {
    await cluster.patchAndSettle('EndpointSlice', key, change);
    expect((await mirrors()).map(shown), JSON.stringify(change)).toEqual([right]);
  }
  await cluster.deleteAndSettle('EndpointSlice', key);
  expect((await mirrors()).map(shown)).toEqual([right]);
});

it('is the only one of its source, and goes with it', async () => {
  await startRed();
  const copy = (name: string, source?: string): ObjectInput => {
    const { metadata, ...rest } = slice(`red/${name}`, {
      labels: { 'endpointslice.kubernetes.io/managed-by': MIRROR },
    });
    const annotations = source === undefined ? {} : { 'k8s.ovn.org/source-endpointslice': source };
    return { ...rest, metadata: { ...metadata, annotations } };
  };
  await cluster.create(slice('red/web-1', { pods: ['a'] }), copy('one', 'web-1'), copy('two', 'web-1'));
  await cluster.createAndSettle(copy('orphan', 'gone'), copy('nameless'));
  expect((await mirrors()).map(addressesIn)).toEqual([[await bare('red/a')]]);
  await cluster.deleteAndSettle('EndpointSlice', 'red/web-1');
  expect(await cluster.list('EndpointSlice')).toEqual([]);
});

it('goes when its network does, and what was left meanwhile goes at the start', async () => {
  await cluster.create(node('n1'), tenant('red'), nad('red/net', netConf('red/net', 'blue-net')));
  await cluster.create(pod('red/a'), slice('red/web-1', { pods: ['a'] }));
  cluster.start();
  await cluster.settled();
  expect((await mirrors()).map(({ metadata }) => metadata.name)).toEqual(['blue-net-web-1']);
  await cluster.deleteAndSettle('NetworkAttachmentDefinition', 'red/net');
  expect(await mirrors()).toEqual([]);
  await cluster.createAndSettle(nad('red/net', netConf('red/net', 'green-net')));
  expect((await mirrors()).map(({ metadata }) => metadata.name)).toEqual(['green-net-web-1']);
  await cluster.stop();
  await cluster.delete('EndpointSlice', 'red/web-1');
  cluster.start();
  await cluster.settled();
  expect(await mirrors()).toEqual([]);
});
