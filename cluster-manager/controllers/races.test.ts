/** Objects that go while they come: nothing of them is left behind, nor to who takes their names. */
import { afterEach, expect, it } from 'vitest';
import { NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient, WatchStream } from '../../kube/types.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { layer2Udn, node, tenant } from '../testing/objects.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const nads = async (): Promise<string[]> =>
  (await cluster.list('NetworkAttachmentDefinition')).map(({ metadata }) => metadata.name);

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
  await cluster.create(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']));
  await cluster.settled();
  expect([writes, await nads(), await cluster.list('UserDefinedNetwork')]).toEqual([1, [], []]);
});

it('a network that is deleted before its NAD was seen waits for the NAD', async () => {
  const gate = Promise.withResolvers<void>();
  async function* late(stream: WatchStream): WatchStream {
    for await (const chunk of stream) {
      await gate.promise;
      yield chunk;
    }
  }
  const wire = (client: KubeClient): KubeClient => ({
    ...client,
    watch: async (resource, ...more) => {
      const stream = await client.watch(resource, ...more);
      return resource === NETWORK_ATTACHMENT_DEFINITIONS ? late(stream) : stream;
    },
  });
  cluster = await createTestCluster({ wire });
  cluster.start();
  await cluster.create(tenant('a'), layer2Udn('a/net', ['10.20.0.0/16']));
  await cluster.settled();
  expect(await nads()).toEqual(['net']);
  await cluster.delete('UserDefinedNetwork', 'a/net');
  await cluster.settled();
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
