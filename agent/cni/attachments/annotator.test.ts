import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../kube/errors.ts';
import type { KubeObject } from '../../../kube/types.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { type AddressProblem, Annotator } from './annotator.ts';
import { AttachmentRegistry } from './registry.ts';

interface Patch {
  readonly pod: string;
  readonly uid: string | undefined;
  /** Undefined: the annotation is to be taken away. */
  readonly changes: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  readonly settle: (error?: unknown) => void;
}

/** A cluster whose attachments go to an annotator, and the patches that it asks for. */
const setUp = (cluster: TestCluster) => {
  const registry = new AttachmentRegistry();
  const patches: Patch[] = [];
  const problems: AddressProblem[] = [];
  const retries: (() => void)[] = [];
  const annotator = new Annotator({
    registry,
    cluster: cluster.settings.cluster,
    known: () => undefined,
    onProblem: (problem) => problems.push(problem),
    later: (retry) => retries.push(retry),
    writer: {
      patchJsonMap: (_, { namespace, name }, _annotation, changes, options) => {
        const { promise, resolve, reject } = Promise.withResolvers<KubeObject>();
        const settle = (error?: unknown): void => (error === undefined ? resolve({} as KubeObject) : reject(error));
        patches.push({ pod: `${namespace}/${name}`, uid: options?.uid, changes: changes as Patch['changes'], settle });
        return promise;
      },
      merge: (_, { namespace, name }, patch) => {
        const { promise, resolve, reject } = Promise.withResolvers<KubeObject>();
        const settle = (error?: unknown): void => (error === undefined ? resolve({} as KubeObject) : reject(error));
        const { uid } = patch['metadata'] as { uid: string };
        expect(patch).toEqual({ metadata: { uid, annotations: { 'k8s.ovn.org/pod-networks': null } } });
        patches.push({ pod: `${namespace}/${name}`, uid, changes: undefined, settle });
        return promise;
      },
    },
  });
  const known = new Set<string>();
  /** Renders, and passes on what differs, as the engine's sink does. */
  const flush = (): void => {
    cluster.engine.flush();
    for (const owner of known) if (!cluster.sinks.attachments.has(owner)) registry.delete(owner);
    for (const [owner, attachments] of cluster.sinks.attachments) {
      known.add(owner);
      registry.set(owner, attachments);
    }
    annotator.flush();
  };
  return { annotator, patches, problems, retries, flush };
};

const plain = (...subnets: string[]): TestCluster =>
  new TestCluster('node1').node('node1', { id: 2, subnets: { default: subnets } }).namespace('ns');

describe('a pod without addresses', () => {
  it('gets those of all its networks in one write', () => {
    const cluster = plain('10.128.0.0/23')
      .namespace('red', true)
      .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' })
      .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red_net: ['10.20.1.0/24'] } })
      .pod('red/a', { node: 'node1', networks: {} });
    const it = setUp(cluster);
    it.flush();
    expect(it.patches.map(({ pod }) => pod)).toEqual(['red/a']);
    expect(it.patches[0]?.changes).toMatchObject({
      default: { ip_addresses: ['10.128.0.3/23'], role: 'infrastructure-locked', mac_address: '0a:58:0a:80:00:03' },
      'red/net': { ip_addresses: ['10.20.1.3/24'], role: 'primary', gateway_ips: ['10.20.1.1'] },
    });
    expect(it.patches[0]?.changes?.['default']?.['gateway_ips']).toBeUndefined();
  });

  it('does not get them twice while the write is under way', () => {
    const cluster = plain('10.128.0.0/23').pod('ns/a', { node: 'node1', networks: {} });
    const it = setUp(cluster);
    it.flush();
    it.flush();
    expect(it.patches).toHaveLength(1);
  });

  it('gets none that a pod of the API has, in whatever order their events come', () => {
    const cluster = plain('10.128.0.0/23')
      .pod('ns/a', { node: 'node1', networks: {} })
      .pod('ns/b', { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } } });
    const it = setUp(cluster);
    it.flush();
    expect(it.patches[0]?.changes?.['default']?.['ip_addresses']).toEqual(['10.128.0.4/23']);
  });
});

it('a new pod gets no address of one that runs and waits for another network', () => {
  const cluster = plain('10.128.0.0/23')
    .pod('ns/runs', { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } }, selects: 'no-id' })
    .pod('ns/new', { node: 'node1', networks: {} });
  cluster.facts.set('nad', 'ns/no-id', 'ns_none');
  const it = setUp(cluster);
  it.flush();
  expect(cluster.sinks.attachments.get('attachments:ns/runs')?.waitingFor).toMatch('has no id yet');
  expect(it.patches.map(({ pod, changes }) => [pod, changes?.['default']?.['ip_addresses']])).toEqual([
    ['ns/new', ['10.128.0.4/23']],
  ]);
});

it('an exhausted pool is reported, and the pod gets the next address that is released', () => {
  const cluster = plain('10.128.0.0/29');
  for (const name of ['a', 'b', 'c', 'd']) {
    cluster.pod(`ns/${name}`, {
      node: 'node1',
      networks: { default: { ips: [`10.128.0.${'abcd'.indexOf(name) + 3}/29`] } },
    });
  }
  const it = setUp(cluster.pod('ns/late', { node: 'node1', networks: {} }));
  it.flush();
  expect(it.problems).toEqual([expect.objectContaining({ pod: 'ns/late', reason: 'exhausted' })]);
  expect([...it.annotator.starved()]).toEqual([['ns/late', it.problems[0]?.message]]);
  cluster.facts.set('pod', 'ns/b', undefined);
  it.flush();
  expect(it.patches).toEqual([expect.objectContaining({ pod: 'ns/late' })]);
  expect(it.patches[0]?.changes?.['default']?.['ip_addresses']).toEqual(['10.128.0.4/29']);
});

it('a finished pod frees its address', () => {
  const cluster = plain('10.128.0.0/23').pod('ns/a', {
    node: 'node1',
    networks: { default: { ips: ['10.128.0.3/23'] } },
  });
  const it = setUp(cluster);
  it.flush();
  cluster
    .pod('ns/a', { node: 'node1', finished: true, networks: { default: { ips: ['10.128.0.3/23'] } } })
    .pod('ns/b', { node: 'node1', networks: {} });
  it.flush();
  expect(it.patches[0]?.changes?.['default']?.['ip_addresses']).toEqual(['10.128.0.3/23']);
});

it('a write that failed is tried again with the same address', async () => {
  const it = setUp(plain('10.128.0.0/23').pod('ns/a', { node: 'node1', networks: {} }));
  it.flush();
  it.patches[0]?.settle(new Error('no route to host'));
  await expect.poll(() => it.retries).toHaveLength(1);
  expect(it.problems).toEqual([
    expect.objectContaining({ reason: 'write-failed', message: expect.stringContaining('no route to host') }),
  ]);
  it.retries[0]?.();
  expect(it.patches[1]?.changes).toEqual(it.patches[0]?.changes);
});

it('a pod that is gone before its addresses are written is no problem', async () => {
  const it = setUp(plain('10.128.0.0/23').pod('ns/a', { node: 'node1', networks: {} }));
  it.flush();
  it.patches[0]?.settle(new KubeError('ERR_KUBE_STATUS', 'gone', { status: 404, reason: 'NotFound' }));
  await Promise.resolve();
  expect(it.problems).toEqual([]);
});

it('addresses are for the very pod they were given to, not for the next of its name', async () => {
  const cluster = plain('10.128.0.0/23').pod('ns/a', { node: 'node1', uid: 'first', networks: {} });
  const it = setUp(cluster);
  it.flush();
  cluster.pod('ns/a', { node: 'node1', uid: 'second', networks: {} });
  it.flush();
  expect(it.patches.map(({ uid }) => uid)).toEqual(['first', 'second']);
  it.patches[0]?.settle(new KubeError('ERR_KUBE_REPLACED', 'ns/a is another object now'));
  await Promise.resolve();
  it.flush();
  expect(it.problems).toEqual([]);
  expect(it.patches).toHaveLength(2);
});

describe('an annotation that was damaged', () => {
  const held = { default: { ips: ['10.128.0.7/23'] } };
  const damaged = (change: object) => {
    const cluster = plain('10.128.0.0/23').pod('ns/a', { node: 'node1', networks: held });
    const it = setUp(cluster);
    it.flush();
    const fact = cluster.facts.get('pod', 'ns/a')!;
    cluster.facts.set('pod', 'ns/a', { ...fact, ...change });
    it.flush();
    return { ...it, cluster, fact };
  };

  it('and lacks entries gets them again, with the same addresses', () => {
    const it = damaged({ lost: new Set(['default']) });
    expect(it.patches.map(({ changes }) => changes?.['default']?.['ip_addresses'])).toEqual([['10.128.0.7/23']]);
  });

  it('and cannot be read is removed, and then written again; the pod gets an event', async () => {
    const it = damaged({ unreadable: 'not JSON', lost: new Set(['default']) });
    expect(it.patches).toEqual([expect.objectContaining({ uid: 'uid-a', changes: undefined })]);
    expect(it.problems).toEqual([expect.objectContaining({ reason: 'unreadable', message: 'overwritten: not JSON' })]);
    it.flush();
    it.cluster.facts.set('pod', 'ns/a', { ...it.fact, lost: new Set(['default']) });
    it.flush();
    it.patches[0]?.settle();
    await expect.poll(() => it.patches).toHaveLength(2);
    expect(it.patches[1]?.changes?.['default']?.['ip_addresses']).toEqual(['10.128.0.7/23']);
  });
});

it('on a secondary layer-3 network a pod gets its MAC and its default route, which its own network then does not have', () => {
  const cluster = plain('10.128.0.0/23')
    .network('ns_wide', {
      ...{ id: 20, topology: 'layer3', role: 'secondary', subnets: ['10.91.0.0/16'], namespace: 'ns', nad: 'wide' },
    })
    .subnets('node1', 'ns_wide', ['10.91.1.0/24'])
    .pod('ns/a', {
      ...{ node: 'node1', networks: {} },
      selects: '[{"name":"wide","mac":"02:00:00:00:00:07","default-route":["10.91.1.1"]}]',
    });
  const { patches, flush } = setUp(cluster);
  flush();
  const [changes] = patches.map((patch) => patch.changes ?? {});
  expect(changes?.['default']).not.toHaveProperty('gateway_ips');
  expect(changes?.['ns/wide']).toEqual({
    ...{ ip_addresses: ['10.91.1.3/24'], ip_address: '10.91.1.3/24', mac_address: '02:00:00:00:00:07' },
    ...{ gateway_ips: ['10.91.1.1'], gateway_ip: '10.91.1.1', role: 'secondary' },
    routes: [{ dest: '10.91.0.0/16', nextHop: '10.91.1.1' }],
  });
});

it('a pod that asks for the MAC of another one’s address gets none, and an event, until it may have it', () => {
  const wide = { id: 20, topology: 'layer3', role: 'secondary', subnets: ['10.91.0.0/16'] } as const;
  const asking = (mac: string) => ({ node: 'node1', networks: {}, selects: `[{"name":"wide","mac":"${mac}"}]` });
  const cluster = plain('10.128.0.0/23')
    .network('ns_wide', { ...wide, namespace: 'ns', nad: 'wide' })
    .subnets('node1', 'ns_wide', ['10.91.1.0/24'])
    .pod('ns/first', asking('02:00:00:00:00:07'))
    .pod('ns/second', asking('02:00:00:00:00:07'))
    .pod('ns/thief', asking('0a:58:0a:5b:01:09'));
  const it = setUp(cluster);
  it.flush();
  expect(it.patches.map(({ pod }) => pod)).toEqual(['ns/first']);
  expect(it.problems.map(({ pod, reason, message }) => [pod, reason, message])).toEqual([
    ['ns/second', 'conflict', 'network ns_wide: requested MAC 02:00:00:00:00:07 belongs to pod ns/first'],
    [
      ...['ns/thief', 'conflict'],
      'network ns_wide: requested MAC 0a:58:0a:5b:01:09 derives from 10.91.1.9 of 10.91.1.0/24, and is for the pod that has this address',
    ],
  ]);
  expect(it.annotator.starved().get('ns/second')).toMatch('belongs to pod ns/first');
  cluster.facts.set('pod', 'ns/first', undefined);
  it.flush();
  expect(it.patches.map(({ pod }) => pod)).toEqual(['ns/first', 'ns/second']);
});
