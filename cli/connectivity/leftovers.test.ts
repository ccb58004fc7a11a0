import { expect, it } from 'vitest';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import { NAMESPACES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { deleteLeftovers } from './leftovers.ts';
import { RUN_LABEL } from './run.ts';
import { untilObjects } from './until.ts';

const HELD = 'example.com/held';

const namespace = (client: KubeClient, name: string, run?: string, finalizers: readonly string[] = []) =>
  client.create(NAMESPACES, {
    metadata: { name, finalizers, ...(run !== undefined && { labels: { [RUN_LABEL]: run } }) },
  });

const names = async (client: KubeClient): Promise<readonly string[]> =>
  (await client.list(NAMESPACES)).items.map(({ metadata }) => metadata.name).filter((name) => /^ns-/.test(name));

it('deletes the namespaces of one run, or of all, and no others', async () => {
  const client = createEmbeddedCluster().client();
  for (const [name, run] of [['ns-a1', 'one'], ['ns-b1', 'one'], ['ns-a2', 'two'], ['ns-other']] as const)
    await namespace(client, name, run);
  expect(await deleteLeftovers(client, 'one')).toEqual(['ns-a1', 'ns-b1']);
  expect(await names(client)).toEqual(['ns-a2', 'ns-other']);
  expect(await deleteLeftovers(client, undefined)).toEqual(['ns-a2']);
  expect(await deleteLeftovers(client, undefined)).toEqual([]);
  expect(await names(client)).toEqual(['ns-other']);
});

it('waits until they are gone, without asking again', async () => {
  const client = createEmbeddedCluster().client();
  await namespace(client, 'ns-a', 'one', [HELD]);
  const asked: string[] = [];
  const watched: Pick<KubeClient, 'delete' | 'list' | 'watch'> = {
    delete: (...args) => client.delete(...args),
    list: (...args) => {
      asked.push('list');
      return client.list(...args);
    },
    watch: async (...args) => {
      asked.push('watch');
      const stream = await client.watch(...args);
      const body = [{ op: 'replace', path: '/metadata/finalizers', value: [] }] as const;
      await client.patch(NAMESPACES, { name: 'ns-a' }, { type: 'json', operations: body });
      return stream;
    },
  };
  expect(await deleteLeftovers(watched, 'one')).toEqual(['ns-a']);
  expect(asked).toEqual(['list', 'list', 'watch']);
});

it('says which label is left when they are not gone in time', async () => {
  const client = createEmbeddedCluster().client();
  await namespace(client, 'ns-a', 'one', [HELD]);
  const patience = new AbortController();
  const impatient: Pick<KubeClient, 'delete' | 'list' | 'watch'> = {
    delete: (...args) => client.delete(...args),
    list: (...args) => client.list(...args),
    watch: async (...args) => {
      const stream = await client.watch(...args);
      patience.abort();
      return stream;
    },
  };
  await expect(deleteLeftovers(impatient, 'one', patience.signal)).rejects.toMatchObject({
    message: expect.stringContaining(
      `namespaces with label ${RUN_LABEL}=one may be left: their deletion takes too long`,
    ),
    exitStatus: 2,
  });
});

it('a watch that the server has forgotten is begun again', async () => {
  const client = createEmbeddedCluster().client();
  await namespace(client, 'ns-a', 'one');
  let watches = 0;
  const forgetful: Pick<KubeClient, 'list' | 'watch'> = {
    list: (...args) => client.list(...args),
    watch: async (...args) => {
      watches++;
      if (watches > 1) {
        await client.create(NAMESPACES, { metadata: { name: 'ns-b', labels: { [RUN_LABEL]: 'one' } } });
        return await client.watch(...args);
      }
      const gone = { type: 'ERROR', object: { kind: 'Status', code: 410, message: 'too old' } };
      return (async function* () {
        yield Buffer.from(`${JSON.stringify(gone)}\n`);
      })();
    },
  };
  const found = await untilObjects(
    forgetful,
    { resource: NAMESPACES, labelSelector: RUN_LABEL },
    (objects) => objects.length === 2,
    AbortSignal.timeout(10_000),
  );
  expect(found.map(({ metadata }) => metadata.name)).toEqual(['ns-a', 'ns-b']);
  expect(watches).toBe(2);
});
