/** What is written when a network is made: each object as few times as it takes, and nothing that would be given twice. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { createFakeClock, type FakeClock } from '../../base/testing/fake-clock.ts';
import { KubeError } from '../../kube/errors.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { KubeClient, KubeObject, Patch, WatchStream } from '../../kube/types.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { cudn, layer2Udn, node, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const { annotation, condition } = observe(() => cluster);

/** Writes of the manager by resource; what is written after a while is not waited for. */
const writes = (): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const one of cluster.observations) {
    if (one.source !== 'writer' || one.about.kind !== 'written') continue;
    const { plural } = one.about.resource;
    counts[plural] = (counts[plural] ?? 0) + 1;
  }
  return counts;
};

const idOf = (key: string) => annotation('NetworkAttachmentDefinition', key, 'network-id');

const settledWith = async (clock: FakeClock): Promise<void> => {
  let isSettled = false;
  void cluster.settled().then(() => {
    isSettled = true;
  });
  while (!isSettled) await clock.advance(100);
};

describe('a new network', () => {
  it('takes two writes of its own and one of its NAD', async () => {
    cluster = await createTestCluster({ clock: createFakeClock() });
    cluster.start();
    await cluster.createAndSettle(tenant('a'), tenant('b'), node('n1'));
    await cluster.createAndSettle(layer2Udn('a/net', ['10.20.0.0/16']), layer2Udn('b/net', ['10.20.0.0/16']));
    expect(writes()).toMatchObject({ userdefinednetworks: 4, 'network-attachment-definitions': 2 });
    expect(await condition('UserDefinedNetwork', 'a/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
  });

  it('of the whole cluster takes two, and one of the NAD of each namespace', async () => {
    cluster = await createTestCluster({ clock: createFakeClock() });
    cluster.start();
    const network = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.20.0.0/16'] } };
    await cluster.createAndSettle(...['a', 'b', 'c'].map((name) => tenant(name, { team: 'x' })));
    await cluster.createAndSettle(cudn('red', { matchLabels: { team: 'x' } }, network));
    expect(writes()).toEqual({ clusteruserdefinednetworks: 2, 'network-attachment-definitions': 3 });
    expect(await Promise.all(['a', 'b', 'c'].map((ns) => idOf(`${ns}/red`)))).toEqual(['1', '1', '1']);
    expect((await condition('ClusterUserDefinedNetwork', 'red'))?.message).toContain('[a, b, c]');
  });

  it('has its ids in the first version of its NAD', async () => {
    cluster = await createTestCluster();
    const versions: string[] = [];
    const stop = new AbortController();
    const nads = createReflector({
      client: cluster.client,
      resource: NETWORK_ATTACHMENT_DEFINITIONS,
      project: ({ metadata: { namespace, annotations = {} } }: KubeObject) =>
        `${namespace} ${annotations['k8s.ovn.org/network-name']} ${annotations['k8s.ovn.org/network-id']} ${annotations['k8s.ovn.org/tunnel-keys']}`,
    });
    nads.subscribe(({ after }) => void versions.push(after ?? 'gone'));
    const reflecting = nads.run(stop.signal);
    cluster.start();
    await cluster.create(tenant('a'), tenant('b'));
    await cluster.createAndSettle(layer2Udn('a/net', ['10.20.0.0/16'], { role: 'Secondary' }));
    await cluster.createAndSettle(layer2Udn('b/net', ['10.20.0.0/16']));
    expect(versions).toEqual(['a a_net 1 undefined', 'b b_net 2 [16711685,16715780]']);
    stop.abort();
    await reflecting;
  });

  /** The mirrors of networks and NADs see nothing new before `gate` opens. */
  const lateMirrors =
    (gate: Promise<void>) =>
    (client: KubeClient): KubeClient => {
      async function* late(stream: WatchStream): WatchStream {
        for await (const chunk of stream) {
          await gate;
          yield chunk;
        }
      }
      return {
        ...client,
        watch: async (resource, ...more) => {
          const stream = await client.watch(resource, ...more);
          const isLate = resource === NETWORK_ATTACHMENT_DEFINITIONS || resource === USER_DEFINED_NETWORKS;
          return isLate ? late(stream) : stream;
        },
      };
    };

  it('is not written again by what happens before the mirror has its NAD', async () => {
    const gate = Promise.withResolvers<void>();
    cluster = await createTestCluster({ clock: createFakeClock(), wire: lateMirrors(gate.promise) });
    await cluster.create(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']));
    cluster.start();
    await cluster.settled();
    await cluster.patchAndSettle('Namespace', 'a', { metadata: { labels: { x: 'y' } } });
    expect(writes()).toEqual({ userdefinednetworks: 1, 'network-attachment-definitions': 1 });
    gate.resolve();
    await cluster.settled();
    expect(writes()).toEqual({ userdefinednetworks: 2, 'network-attachment-definitions': 1 });
    expect(await condition('UserDefinedNetwork', 'a/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
  });

  it('whose NAD is not seen for long is written again', async () => {
    const gate = Promise.withResolvers<void>();
    const clock = createFakeClock();
    cluster = await createTestCluster({ clock, wire: lateMirrors(gate.promise) });
    await cluster.create(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']));
    cluster.start();
    await cluster.settled();
    await cluster.patch('NetworkAttachmentDefinition', 'a/net', { metadata: { finalizers: null } });
    await cluster.delete('NetworkAttachmentDefinition', 'a/net');
    await clock.advance(61_000);
    await cluster.patchAndSettle('Namespace', 'a', { metadata: { labels: { x: 'y' } } });
    expect(await idOf('a/net')).toBe('1');
    gate.resolve();
    await cluster.settled();
    expect(await condition('UserDefinedNetwork', 'a/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
  });

  it('keeps its ids when its NAD is written again', async () => {
    cluster = await createTestCluster();
    cluster.start();
    await cluster.createAndSettle(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']));
    await cluster.patchAndSettle('UserDefinedNetwork', 'a/net', { metadata: { labels: { tier: 'gold' } } });
    const { metadata } = (await cluster.get('NetworkAttachmentDefinition', 'a/net')) as KubeObject;
    expect(metadata.labels).toMatchObject({ tier: 'gold' });
    expect(metadata.annotations).toEqual({
      'k8s.ovn.org/network-name': 'a_net',
      'k8s.ovn.org/network-id': '1',
      'k8s.ovn.org/tunnel-keys': '[16711684,16715779]',
    });
    expect(metadata.managedFields?.map(({ manager }) => manager)).toEqual(['user-defined-network-controller']);
  });
});

it('a network whose NAD an admission webhook changes says that it is ready all the same', async () => {
  const withoutTier = (patch: Patch): Patch => {
    if (patch.type !== 'apply') return patch;
    const { labels = {}, ...metadata } = patch.body.metadata;
    const others = Object.fromEntries(Object.entries(labels).filter(([key]) => key !== 'tier'));
    return { ...patch, body: { ...patch.body, metadata: { ...metadata, labels: others } } };
  };
  const wire = (client: KubeClient): KubeClient => ({
    ...client,
    patch: (resource, ref, patch, ...more) =>
      client.patch(resource, ref, resource === NETWORK_ATTACHMENT_DEFINITIONS ? withoutTier(patch) : patch, ...more),
  });
  cluster = await createTestCluster({ clock: createFakeClock(), wire });
  cluster.start();
  const udn = layer2Udn('a/net', ['10.20.0.0/16']);
  await cluster.createAndSettle(tenant('a'), { ...udn, metadata: { ...udn.metadata, labels: { tier: 'gold' } } });
  expect(await condition('UserDefinedNetwork', 'a/net', 'NetworkAllocationSucceeded')).toMatchObject({
    status: 'True',
  });
  expect(writes()['userdefinednetworks']).toBe(2);
});

describe('a NAD that can not be written', () => {
  /** What happens to writes of NADs in namespace `a`. */
  const startWith = async (onNadOfA: (write: () => Promise<KubeObject>) => Promise<KubeObject>): Promise<FakeClock> => {
    const clock = createFakeClock();
    const wire = (client: KubeClient): KubeClient => ({
      ...client,
      patch: (resource, ref, ...more) => {
        const write = () => client.patch(resource, ref, ...more);
        return resource === NETWORK_ATTACHMENT_DEFINITIONS && ref.namespace === 'a' ? onNadOfA(write) : write();
      },
    });
    cluster = await createTestCluster({ clock, wire });
    cluster.start();
    await cluster.create(...['a', 'b', 'c'].map((name) => tenant(name)), layer2Udn('a/net', ['10.20.0.0/16']));
    return clock;
  };
  const refusal = new KubeError('ERR_KUBE_STATUS', 'exceeded quota', { status: 403 });
  const silence = new KubeError('ERR_KUBE_NETWORK', 'socket hang up');

  it('because it is refused keeps no ids', async () => {
    let isRefused = true;
    const clock = await startWith((write) => (isRefused ? Promise.reject(refusal) : write()));
    await settledWith(clock);
    expect(await condition('UserDefinedNetwork', 'a/net')).toMatchObject({
      status: 'False',
      message: 'failed to write NetworkAttachmentDefinition [a/net]: exceeded quota',
    });
    await cluster.create(layer2Udn('b/net', ['10.20.0.0/16']));
    await settledWith(clock);
    expect(await idOf('b/net')).toBe('1');
    isRefused = false;
    await clock.advance(60_000);
    await settledWith(clock);
    expect(await idOf('a/net')).toBe('2');
    expect(await condition('UserDefinedNetwork', 'a/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
  });

  it('as far as one knows keeps its ids as long as it may still be written', async () => {
    const late: (() => Promise<KubeObject>)[] = [];
    let isSilent = true;
    const clock = await startWith((write) => {
      if (!isSilent) return Promise.reject(refusal);
      late.push(write);
      return Promise.reject(silence);
    });
    await settledWith(clock);
    await cluster.create(layer2Udn('b/net', ['10.20.0.0/16']));
    await settledWith(clock);
    expect([late.length > 0, await idOf('b/net')]).toEqual([true, '2']);
    // A refusal says nothing of the request before.
    isSilent = false;
    await clock.advance(30_000);
    await settledWith(clock);
    await cluster.create(layer2Udn('c/net', ['10.20.0.0/16']));
    await settledWith(clock);
    expect(await idOf('c/net')).toBe('3');
    await late[0]?.();
    await settledWith(clock);
    expect(await idOf('a/net')).toBe('1');
    expect(await condition('UserDefinedNetwork', 'a/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
  });

  it('is waited for when its network goes, and gives its ids back when it has not come', async () => {
    const clock = await startWith(() => Promise.reject(silence));
    await settledWith(clock);
    await cluster.delete('UserDefinedNetwork', 'a/net');
    await clock.advance(30_000);
    await settledWith(clock);
    expect(await cluster.list('UserDefinedNetwork')).toHaveLength(1);
    await clock.advance(75_000);
    await settledWith(clock);
    expect(await cluster.list('UserDefinedNetwork')).toEqual([]);
    await cluster.create(layer2Udn('b/net', ['10.20.0.0/16']));
    await settledWith(clock);
    expect(await idOf('b/net')).toBe('1');
  });

  it('although it was, has the ids that it was given', async () => {
    let isFirst = true;
    const clock = await startWith(async (write) => {
      const written = await write();
      if (!isFirst) return written;
      isFirst = false;
      throw silence;
    });
    await cluster.create(layer2Udn('b/net', ['10.20.0.0/16']));
    await settledWith(clock);
    expect([await idOf('a/net'), await idOf('b/net')].sort()).toEqual(['1', '2']);
    expect(await condition('UserDefinedNetwork', 'a/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
  });
});

describe('a status of before', () => {
  const FORMER = 'NetworkClusterController';

  it('whose fields had two owners has one when it is written again, and loses what is not so any more', async () => {
    cluster = await createTestCluster();
    cluster.start();
    await cluster.createAndSettle(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']));
    // What the nodes report comes in a write of its own, and `Ready` after it.
    await vi.waitFor(async () =>
      expect(await condition('UserDefinedNetwork', 'a/net', 'Ready')).toMatchObject({ reason: 'NoNodes' }),
    );
    await cluster.stop();
    const udn = (await cluster.get('UserDefinedNetwork', 'a/net')) as KubeObject;
    const { networkID, networkName, vrf, conditions } = udn['status'] as Record<string, unknown>;
    const ready = (conditions as { type: string }[]).filter(({ type }) => type === 'Ready');
    const status = { networkID, networkName, vrf, conditions: ready };
    const body = { metadata: { namespace: 'a', name: 'net' }, status };
    await cluster.client.patch(
      USER_DEFINED_NETWORKS,
      { namespace: 'a', name: 'net' },
      { type: 'apply', body, fieldManager: FORMER, force: true },
      { subresource: 'status' },
    );
    const ownersOf = async () =>
      (await cluster.get('UserDefinedNetwork', 'a/net'))?.metadata.managedFields
        ?.filter(({ subresource }) => subresource === 'status')
        .map(({ manager }) => manager);
    cluster.start();
    await cluster.settled();
    expect(await ownersOf()).toContain(FORMER);
    await cluster.patch('Namespace', 'a', {
      metadata: { labels: { 'k8s.ovn.org/primary-user-defined-network': null } },
    });
    await cluster.deleteAndSettle('NetworkAttachmentDefinition', 'a/net');
    const after = (await cluster.get('UserDefinedNetwork', 'a/net'))?.['status'] as Record<string, unknown>;
    expect(await ownersOf()).not.toContain(FORMER);
    expect([after['networkID'], after['networkName'], after['vrf']]).toEqual([undefined, undefined, undefined]);
    expect(await condition('UserDefinedNetwork', 'a/net', 'Ready')).toMatchObject({ status: 'False' });
  });
});
