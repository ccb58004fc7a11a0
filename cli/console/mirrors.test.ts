import { afterEach, describe, expect, it } from 'vitest';
import { CLUSTER_USER_DEFINED_NETWORKS, NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import type { EmbeddedCluster } from '../../kube/embedded/types.ts';
import { KubeError } from '../../kube/errors.ts';
import { NAMESPACES, NODES, PODS } from '../../kube/resources.ts';
import type { KubeClient, ResourceType } from '../../kube/types.ts';
import { createMirrors, type Mirrors } from './mirrors.ts';
import type { SourceState } from './types.ts';

type Reader = Pick<KubeClient, 'get' | 'list' | 'watch' | 'request'>;

interface Watching {
  readonly mirrors: Mirrors;
  /** Resolves at the change that makes it true. */
  readonly until: (condition: () => boolean) => Promise<void>;
  readonly stateOf: (resource: string) => SourceState | undefined;
}

const ended: (() => void)[] = [];
afterEach(() => {
  for (const end of ended.splice(0)) end();
});

const clusterOf = (): EmbeddedCluster => {
  const cluster = createEmbeddedCluster({});
  ended.push(() => cluster.close());
  return cluster;
};

const watching = (client: Reader, namespace?: string): Watching => {
  const waiting = new Set<() => void>();
  const controller = new AbortController();
  ended.unshift(() => controller.abort());
  const mirrors = createMirrors({
    ...{ client, namespace },
    timings: { backoffMinMs: 1, backoffMaxMs: 5 },
    onChange: () => {
      for (const check of waiting) check();
    },
  });
  void mirrors.run(controller.signal);
  return {
    mirrors,
    stateOf: (resource) => mirrors.sources().find((one) => one.resource === resource),
    until: (condition) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!condition()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
  };
};

const refusing = (client: Reader, resources: readonly ResourceType[], error: () => KubeError | undefined): Reader => {
  const refused = (resource: ResourceType): Promise<never> | undefined => {
    const reason = resources.length === 0 || resources.includes(resource) ? error() : undefined;
    return reason === undefined ? undefined : Promise.reject(reason);
  };
  return {
    get: (...args) => client.get(...args),
    list: (resource, ...rest) => refused(resource) ?? client.list(resource, ...rest),
    watch: (resource, ...rest) => refused(resource) ?? client.watch(resource, ...rest),
    request: (...args) => client.request(...args),
  };
};

const statusError = (status: number) =>
  new KubeError('ERR_KUBE_STATUS', `status ${status}`, { status, reason: 'Test' });

const pod = (name: string) => ({
  metadata: { namespace: 'red', name },
  spec: { containers: [{ name: 'c', image: 'i' }] },
});

describe('mirrors of the console', () => {
  it('have what the server has, and what changes', async () => {
    const client = clusterOf().client();
    await client.create(NAMESPACES, { metadata: { name: 'red' } });
    const { mirrors, until, stateOf } = watching(client);
    await until(() => mirrors.isComplete);
    expect(mirrors.snapshot().namespaces.has('red')).toBe(true);
    expect(stateOf('pods')).toMatchObject({ state: 'live' });
    await client.create(PODS, pod('web'));
    await until(() => mirrors.snapshot().pods.has('red/web'));
    await client.delete(PODS, { namespace: 'red', name: 'web' }, { gracePeriodSeconds: 0 });
    await until(() => !mirrors.snapshot().pods.has('red/web'));
  });

  it('name the kinds that the user may not list, and show the others', async () => {
    const client = refusing(clusterOf().client(), [NODES, CLUSTER_USER_DEFINED_NETWORKS], () => statusError(403));
    const { mirrors, until, stateOf } = watching(client);
    await until(() => mirrors.isComplete);
    expect(stateOf('nodes')).toMatchObject({ state: 'forbidden', message: 'you may not list them' });
    expect(mirrors.snapshot().unread).toContainEqual({
      resource: 'nodes',
      what: 'nodes',
      why: 'you may not list them',
    });
  });

  it('show nothing any more of what the user may not list any more, and all of it when they may again', async () => {
    let isForbidden = false;
    const cluster = clusterOf();
    const inner = cluster.client();
    await inner.create(NODES, { metadata: { name: 'n1' } });
    const client = refusing(inner, [NODES], () => (isForbidden ? statusError(403) : undefined));
    const { mirrors, until, stateOf } = watching(client);
    await until(() => mirrors.isComplete);
    expect(mirrors.objects(NODES)).toHaveLength(1);
    isForbidden = true;
    cluster.disconnectWatches();
    await until(() => stateOf('nodes')?.state === 'forbidden');
    expect(mirrors.objects(NODES)).toEqual([]);
    isForbidden = false;
    await until(() => stateOf('nodes')?.state === 'live');
    expect(mirrors.objects(NODES)).toHaveLength(1);
  });

  it('say that the server is lost and why, and keep what it said before; then go on', async () => {
    let isAway = false;
    const cluster = clusterOf();
    const inner = cluster.client();
    await inner.create(NODES, { metadata: { name: 'n1' } });
    const client = refusing(inner, [], () =>
      isAway ? new KubeError('ERR_KUBE_NETWORK', 'connection refused') : undefined,
    );
    const { mirrors, until, stateOf } = watching(client);
    await until(() => mirrors.isComplete);
    isAway = true;
    cluster.disconnectWatches();
    await until(() => mirrors.sources().some(({ state }) => state === 'lost'));
    await until(() => stateOf('nodes')?.state === 'lost');
    expect(stateOf('nodes')).toMatchObject({ message: 'connection refused' });
    expect(mirrors.objects(NODES)).toHaveLength(1);
    isAway = false;
    await inner.create(NODES, { metadata: { name: 'n2' } });
    await until(() => stateOf('nodes')?.state === 'live' && mirrors.objects(NODES).length === 2);
  });

  it('of a server that has never answered know nothing', async () => {
    const client = refusing(clusterOf().client(), [], () => new KubeError('ERR_KUBE_NETWORK', 'connection refused'));
    const { mirrors, until } = watching(client);
    await until(() => mirrors.sources().every(({ state }) => state === 'lost'));
    expect(mirrors.isComplete).toBe(false);
    expect(mirrors.sources().every(({ heardAt }) => heardAt === undefined)).toBe(true);
  });

  it('of one namespace leave the others out; who may only get it sees it', async () => {
    const inner = clusterOf().client();
    for (const name of ['red', 'blue']) await inner.create(NAMESPACES, { metadata: { name } });
    await inner.create(PODS, pod('web'));
    const client = refusing(inner, [NAMESPACES, NODES], () => statusError(403));
    const { mirrors, until } = watching(client, 'red');
    await until(() => mirrors.isComplete && mirrors.snapshot().namespaces.size > 0);
    const { namespaces, pods, unread } = mirrors.snapshot();
    expect([...namespaces.keys()]).toEqual(['red']);
    expect([...pods.keys()]).toEqual(['red/web']);
    expect(unread.map(({ resource }) => resource)).not.toContain('namespaces');
  });

  it('take a kind that is not served for what is not installed', async () => {
    const { mirrors, until, stateOf } = watching(clusterOf().client());
    await until(() => mirrors.isComplete);
    expect(stateOf('network-attachment-definitions.k8s.cni.cncf.io')).toMatchObject({ state: 'absent' });
    expect(mirrors.snapshot().unread.map(({ resource }) => resource)).toContain(NETWORK_ATTACHMENT_DEFINITIONS.plural);
  });

  it('keep no record of who wrote which field', async () => {
    const client = clusterOf().client();
    await client.create(NODES, { metadata: { name: 'n1' } });
    const { mirrors, until } = watching(client);
    await until(() => mirrors.isComplete);
    expect(mirrors.objects(NODES)[0]).toMatchObject({ kind: 'Node', apiVersion: 'v1' });
    expect(mirrors.objects(NODES)[0]?.metadata).not.toHaveProperty('managedFields');
  });
});
