/** Objects that go while they come: nothing of them is left behind, nor to who takes their names. */
import { afterEach, expect, it } from 'vitest';
import { IPAM_CLAIMS, NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { NODES, PODS } from '../../kube/resources.ts';
import type { KubeClient, ResourceType, WatchStream } from '../../kube/types.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { askPrimary, ipamClaim, layer2Udn, nad, node, pod, tenant } from '../testing/objects.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const nads = async (): Promise<string[]> =>
  (await cluster.list('NetworkAttachmentDefinition')).map(({ metadata }) => metadata.name);

/** What is said of a resource is heard when `gate` is open. */
const lateFor =
  (late: ResourceType, gate: Promise<void>) =>
  (client: KubeClient): KubeClient => {
    async function* delayed(stream: WatchStream): WatchStream {
      for await (const chunk of stream) {
        await gate;
        yield chunk;
      }
    }
    return {
      ...client,
      watch: async (resource, ...more) => {
        const stream = await client.watch(resource, ...more);
        return resource === late ? delayed(stream) : stream;
      },
    };
  };

it('a network that is deleted before it has our finalizer gets no NAD', async () => {
  let writes = 0;
  const wire = (client: KubeClient): KubeClient => ({
    ...client,
    patch: async (...request) => {
      if (request[0] === USER_DEFINED_NETWORKS && writes === 0) await cluster.delete('UserDefinedNetwork', 'a/net');
      writes += 1;
      return await client.patch(...request);
    },
  });
  cluster = await createTestCluster({ wire });
  cluster.start();
  await cluster.createAndSettle(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']));
  expect([writes, await nads(), await cluster.list('UserDefinedNetwork')]).toEqual([1, [], []]);
});

it('a network that is deleted before its NAD was seen waits for the NAD', async () => {
  const gate = Promise.withResolvers<void>();
  const wire = lateFor(NETWORK_ATTACHMENT_DEFINITIONS, gate.promise);
  cluster = await createTestCluster({ wire });
  cluster.start();
  await cluster.createAndSettle(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']));
  expect(await nads()).toEqual(['net']);
  await cluster.deleteAndSettle('UserDefinedNetwork', 'a/net');
  expect(await cluster.list('UserDefinedNetwork')).toHaveLength(1);
  gate.resolve();
  await cluster.settled();
  expect([await nads(), await cluster.list('UserDefinedNetwork')]).toEqual([[], []]);
});

it('a node that takes the name of another one never gets what that one had', async () => {
  let isReplaced = false;
  const wire = (client: KubeClient): KubeClient => ({
    ...client,
    patch: async (...request) => {
      if (request[0] === NODES && !isReplaced) {
        isReplaced = true;
        await cluster.delete('Node', 'n1');
        await cluster.create(node('n0'), node('n1'));
      }
      return await client.patch(...request);
    },
  });
  cluster = await createTestCluster({ wire });
  const given: (string | undefined)[] = [];
  cluster.start();
  await cluster.create(node('n1'));
  const stop = new AbortController();
  const nodes = createReflector({
    client: cluster.client,
    resource: NODES,
    project: ({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.annotations?.['k8s.ovn.org/node-id']}`,
  });
  nodes.subscribe(({ after }) => void given.push(after));
  const reflecting = nodes.run(stop.signal);
  await cluster.settled();
  const { uid, annotations } = (await cluster.get('Node', 'n1'))?.metadata ?? {};
  const ids = given.filter((text) => text?.includes(uid ?? '') === true && !text.endsWith('undefined'));
  expect(ids).toEqual([`n1 ${uid} ${annotations?.['k8s.ovn.org/node-id']}`]);
  stop.abort();
  await reflecting;
});

it('a pod that takes the name of another one never gets what that one had', async () => {
  let isReplaced = false;
  const asking = { uid: 'second', ...askPrimary({ ips: ['10.20.9.9'] }) };
  const wire = (client: KubeClient): KubeClient => ({
    ...client,
    patch: async (...request) => {
      if (request[0] === PODS && !isReplaced) {
        isReplaced = true;
        await cluster.delete('Pod', 'a/p');
        await cluster.create(pod('a/p', asking));
      }
      return await client.patch(...request);
    },
  });
  cluster = await createTestCluster({ wire });
  const given = new Set<string>();
  cluster.start();
  await cluster.create(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']), pod('a/p', { uid: 'first' }));
  const stop = new AbortController();
  const pods = createReflector({
    client: cluster.client,
    resource: PODS,
    project: ({ metadata: { uid, annotations } }) =>
      `${uid} ${annotations?.['k8s.ovn.org/pod-networks']?.match(/"ip_address":"([^"]+)"/)?.[1]}`,
  });
  pods.subscribe(({ after }) => void given.add(after ?? ''));
  const reflecting = pods.run(stop.signal);
  await cluster.settled();
  const [first, second] = [...given].filter((text) => /\d/.test(text) && !text.endsWith('undefined'));
  expect([isReplaced, first?.split(' ')[1], second]).toEqual([true, '10.20.9.9/16', undefined]);
  expect(cluster.manager.state?.pods.sizeOf('a_net')).toBe(1);
  stop.abort();
  await reflecting;
});

it('a NAD that takes the name of one that is to be deleted stays', async () => {
  const NAD = 'NetworkAttachmentDefinition';
  let isReplaced = false;
  const wire = (client: KubeClient): KubeClient => ({
    ...client,
    delete: async (...request) => {
      if (request[0] === NETWORK_ATTACHMENT_DEFINITIONS && !isReplaced) {
        isReplaced = true;
        await cluster.patch(NAD, 'a/net', { metadata: { finalizers: null } });
        await cluster.delete(NAD, 'a/net');
        await cluster.create(nad('a/net', { type: 'macvlan' }));
      }
      return await client.delete(...request);
    },
  });
  cluster = await createTestCluster({ wire });
  cluster.start();
  await cluster.createAndSettle(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']));
  await cluster.deleteAndSettle('UserDefinedNetwork', 'a/net');
  expect([isReplaced, await nads(), await cluster.list('UserDefinedNetwork')]).toEqual([true, ['net'], []]);
});

it('what a claim was given stays its own when its pod goes before that was heard', async () => {
  const gate = Promise.withResolvers<void>();
  cluster = await createTestCluster({ wire: lateFor(IPAM_CLAIMS, gate.promise) });
  const network = layer2Udn('a/net', ['10.20.0.0/16'], { ipam: { lifecycle: 'Persistent' } });
  await cluster.create(tenant('a'), network, ipamClaim('a/c', 'a_net'));
  cluster.start();
  await cluster.settled();
  const addressOf = async (key: string) =>
    (await cluster.get('Pod', key))?.metadata.annotations?.['k8s.ovn.org/pod-networks']?.match(/10\.20\.[0-9.]+/)?.[0];
  await cluster.createAndSettle(pod('a/first', askPrimary({ 'ipam-claim-reference': 'c' })));
  expect(await addressOf('a/first')).toBe('10.20.0.3');
  await cluster.deleteAndSettle('Pod', 'a/first');
  await cluster.createAndSettle(pod('a/other'));
  expect(await addressOf('a/other')).toBe('10.20.0.4');
  gate.resolve();
  await cluster.createAndSettle(pod('a/second', askPrimary({ 'ipam-claim-reference': 'c' })));
  expect(await addressOf('a/second')).toBe('10.20.0.3');
});

it('a NAD of somebody else that comes a moment before is not overwritten', async () => {
  let isThere = false;
  const wire = (client: KubeClient): KubeClient => ({
    ...client,
    patch: async (...request) => {
      if (request[0] === NETWORK_ATTACHMENT_DEFINITIONS && !isThere) {
        isThere = true;
        await cluster.create(nad('a/net', { type: 'macvlan' }));
      }
      return await client.patch(...request);
    },
  });
  cluster = await createTestCluster({ wire });
  cluster.start();
  await cluster.createAndSettle(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']));
  const found = await cluster.get('NetworkAttachmentDefinition', 'a/net');
  expect([isThere, found?.['spec'], found?.metadata.ownerReferences]).toEqual([
    true,
    { config: '{"type":"macvlan"}' },
    undefined,
  ]);
  expect(JSON.stringify((await cluster.get('UserDefinedNetwork', 'a/net'))?.['status'])).toContain(
    'foreign NetworkAttachmentDefinition with the desired name already exist [a/net]',
  );
});
