/** The scheduler and the EndpointSlice controller against the API server in memory. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import type { EmbeddedCluster } from '../../kube/embedded/types.ts';
import { ENDPOINT_SLICES, NODES, PODS, SERVICES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { runEndpointSliceController } from './endpoint-slice-controller.ts';
import { runScheduler } from './scheduler.ts';

let cluster: EmbeddedCluster;
let client: KubeClient;
let stop: AbortController;
const errors: unknown[] = [];

beforeEach(() => {
  cluster = createEmbeddedCluster();
  client = cluster.client();
  stop = new AbortController();
  errors.length = 0;
});
afterEach(() => {
  stop.abort();
  cluster.close();
  expect(errors).toEqual([]);
});

const options = () => ({ client, onError: (error: unknown) => errors.push(error) });
const addNode = async (name: string, isReady = true): Promise<void> => {
  await client.create(NODES, { metadata: { name, labels: { 'kubernetes.io/hostname': name } } });
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  await client.patch(NODES, { name }, { type: 'merge', body: { status: { conditions } } }, { subresource: 'status' });
};
const addPod = (name: string, spec: object = {}, labels: Record<string, string> = {}) =>
  client.create(PODS, {
    metadata: { name, namespace: 'default', labels },
    spec: { containers: [{ name: 'c', image: 'toolbox' }], ...spec },
  });
const nodeOf = async (name: string): Promise<unknown> =>
  ((await client.get(PODS, { namespace: 'default', name }))['spec'] as { nodeName?: string }).nodeName;

describe('the scheduler', () => {
  it('spreads pods over ready nodes, also those that come later', async () => {
    void runScheduler(options(), stop.signal);
    await addPod('first');
    await addNode('lazy', false);
    expect(await nodeOf('first')).toBeUndefined();
    await addNode('a');
    await expect.poll(() => nodeOf('first')).toBe('a');
    await addNode('b');
    for (const name of ['p1', 'p2', 'p3', 'p4']) await addPod(name);
    const placed = async () => (await Promise.all(['p1', 'p2', 'p3', 'p4'].map(nodeOf))).sort();
    await expect.poll(placed).toEqual(['a', 'a', 'b', 'b']);
  });

  it('keeps to nodeSelectors, and leaves pods alone that have a node', async () => {
    await addNode('a');
    await addNode('b');
    await addPod('own', { nodeName: 'elsewhere' });
    await addPod('b1', { nodeSelector: { 'kubernetes.io/hostname': 'b' } });
    await addPod('b2', { nodeSelector: { 'kubernetes.io/hostname': 'b' } });
    void runScheduler(options(), stop.signal);
    await expect.poll(async () => [await nodeOf('b1'), await nodeOf('b2')]).toEqual(['b', 'b']);
    expect(await nodeOf('own')).toBe('elsewhere');
  });
});

describe('the EndpointSlice controller', () => {
  const addService = (name: string, spec: object = {}) =>
    client.create(SERVICES, {
      metadata: { name, namespace: 'default' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
    });
  const setStatus = (name: string, ip: string, isReady: boolean) =>
    client.patch(
      PODS,
      { namespace: 'default', name },
      {
        type: 'merge',
        body: {
          status: {
            phase: 'Running',
            podIP: ip,
            podIPs: [{ ip }],
            conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
          },
        },
      },
      { subresource: 'status' },
    );
  const endpoints = async (service: string): Promise<string[]> => {
    const { items } = await client.list(ENDPOINT_SLICES, { labelSelector: `kubernetes.io/service-name=${service}` });
    const all = items.flatMap(
      (slice) => slice['endpoints'] as { addresses: string[]; conditions: { ready: boolean } }[],
    );
    return all.map(({ addresses, conditions }) => `${addresses[0]}${conditions.ready ? '' : ' not ready'}`).sort();
  };

  it('follows pods and Services', async () => {
    void runEndpointSliceController(options(), stop.signal);
    await addService('web');
    await addService('other', { selector: { app: 'other' } });
    await addPod('a', {}, { app: 'web' });
    await addPod('b', {}, { app: 'web' });
    await setStatus('a', '10.0.0.1', true);
    await expect.poll(() => endpoints('web')).toEqual(['10.0.0.1']);
    await setStatus('b', '10.0.0.2', false);
    await expect.poll(() => endpoints('web')).toEqual(['10.0.0.1', '10.0.0.2 not ready']);
    await client.delete(PODS, { namespace: 'default', name: 'a' }, { gracePeriodSeconds: 0 });
    await expect.poll(() => endpoints('web')).toEqual(['10.0.0.2 not ready']);
    expect(await endpoints('other')).toEqual([]);
    await client.delete(ENDPOINT_SLICES, { namespace: 'default', name: 'web-ipv4-1' });
    await expect.poll(() => endpoints('web')).toEqual(['10.0.0.2 not ready']);
    const changed = { type: 'merge', body: { endpoints: [] } } as const;
    await client.patch(ENDPOINT_SLICES, { namespace: 'default', name: 'web-ipv4-1' }, changed);
    await expect.poll(() => endpoints('web')).toEqual(['10.0.0.2 not ready']);
    await client.delete(SERVICES, { namespace: 'default', name: 'web' });
    await expect
      .poll(async () => (await client.list(ENDPOINT_SLICES)).items.map(({ metadata }) => metadata.name))
      .not.toContain('web-ipv4-1');
  });

  it('leaves Services without selector alone', async () => {
    await client.create(SERVICES, {
      metadata: { name: 'plain', namespace: 'default' },
      spec: { ports: [{ port: 80 }] },
    });
    await addService('web');
    void runEndpointSliceController(options(), stop.signal);
    await expect
      .poll(async () => (await client.list(ENDPOINT_SLICES)).items.map(({ metadata }) => metadata.name))
      .toContain('web-ipv4-1');
    expect((await client.list(ENDPOINT_SLICES, { labelSelector: 'kubernetes.io/service-name=plain' })).items).toEqual(
      [],
    );
  });
});
