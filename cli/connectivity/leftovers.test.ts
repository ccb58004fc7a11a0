import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import { NAMESPACES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { deleteLeftovers, deleteRun } from './leftovers.ts';
import { RUN_LABEL } from './run.ts';
import { untilObjects } from './until.ts';

const HELD = 'example.com/held';
const MINUTE_MS = 60_000;

const namespace = (client: KubeClient, name: string, run?: string, finalizers: readonly string[] = []) =>
  client.create(NAMESPACES, {
    metadata: { name, finalizers, ...(run !== undefined && { labels: { [RUN_LABEL]: run } }) },
  });

const names = async (client: KubeClient): Promise<readonly string[]> =>
  (await client.list(NAMESPACES)).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => /^(connectivity-|ns-)/.test(name));

type Client = Parameters<typeof deleteRun>[0];

const withChanges = (client: KubeClient, changes: Partial<Client>): Client => ({
  delete: (...args) => client.delete(...args),
  list: (...args) => client.list(...args),
  watch: (...args) => client.watch(...args),
  ...changes,
});

describe('at the end of a run', () => {
  it('its namespaces are deleted, and no others', async () => {
    const client = createEmbeddedCluster().client();
    for (const tenant of ['a', 'b']) await namespace(client, `connectivity-00000a-${tenant}`, '00000a');
    await namespace(client, 'connectivity-00000b-a', '00000b');
    await namespace(client, 'ns-other');
    await deleteRun(client, { id: '00000a' });
    expect(await names(client)).toEqual(['connectivity-00000b-a', 'ns-other']);
  });

  it('waits until they no longer exist, without asking again', async () => {
    const client = createEmbeddedCluster().client();
    await namespace(client, 'connectivity-00000a-a', '00000a', [HELD]);
    const asked: string[] = [];
    const watched = withChanges(client, {
      list: (...args) => {
        asked.push('list');
        return client.list(...args);
      },
      watch: async (...args) => {
        asked.push('watch');
        const stream = await client.watch(...args);
        const body = [{ op: 'replace', path: '/metadata/finalizers', value: [] }] as const;
        await client.patch(NAMESPACES, { name: 'connectivity-00000a-a' }, { type: 'json', operations: body });
        return stream;
      },
    });
    await deleteRun(watched, { id: '00000a' });
    expect(asked).toEqual(['list', 'list', 'watch']);
    expect(await names(client)).toEqual([]);
  });

  it('a namespace whose request timed out, and which appears later, is deleted', async () => {
    const client = createEmbeddedCluster().client();
    await namespace(client, 'connectivity-00000a-a', '00000a', [HELD]);
    let watches = 0;
    const late = withChanges(client, {
      watch: async (...args) => {
        const stream = await client.watch(...args);
        watches += 1;
        if (watches === 1) await namespace(client, 'connectivity-00000a-b', '00000a');
        else {
          const body = [{ op: 'replace', path: '/metadata/finalizers', value: [] }] as const;
          await client.patch(NAMESPACES, { name: 'connectivity-00000a-a' }, { type: 'json', operations: body });
        }
        return stream;
      },
    });
    await deleteRun(late, { id: '00000a' });
    expect(await names(client)).toEqual([]);
  });

  it('says which label is left when they are not deleted in time', async () => {
    const client = createEmbeddedCluster().client();
    await namespace(client, 'connectivity-00000a-a', '00000a', [HELD]);
    const patience = new AbortController();
    const impatient = withChanges(client, {
      watch: async (...args) => {
        const stream = await client.watch(...args);
        patience.abort();
        return stream;
      },
    });
    await expect(deleteRun(impatient, { id: '00000a' }, patience.signal)).rejects.toMatchObject({
      message: expect.stringContaining(
        `namespaces with label ${RUN_LABEL}=00000a may be left: their deletion takes too long`,
      ),
      exitStatus: 2,
    });
  });
});

describe('leftovers of earlier runs', () => {
  const start = async () => {
    const clock = createFakeClock();
    const client = createEmbeddedCluster({ clock }).client();
    await namespace(client, 'connectivity-00000a-a', '00000a');
    clock.pass(10 * MINUTE_MS);
    await namespace(client, 'connectivity-00000b-b', '00000b');
    clock.pass(5 * MINUTE_MS);
    return { client, now: clock.wall() };
  };

  it('are deleted, but those that may be of a run in progress', async () => {
    const { client, now } = await start();
    const [deleted, recent] = [['connectivity-00000a-a'], ['connectivity-00000b-b']];
    expect(await deleteLeftovers(client, { now, force: false })).toEqual({ deleted, recent, foreign: [] });
    expect(await names(client)).toEqual(recent);
    expect(await deleteLeftovers(client, { now, force: true })).toEqual({ deleted: recent, recent: [], foreign: [] });
    expect(await names(client)).toEqual([]);
  });

  it.each([
    ['ns-prod', '00000c'],
    ['connectivity-00000c-c', '00000c'],
    ['connectivity-00000c-a', '00000d'],
    ['connectivity-killed-a', 'killed'],
    ['connectivity--a', ''],
    ['connectivity-00000c-a-b', '00000c'],
  ])('namespace %s with value %s is none of them, although somebody has given it the label', async (name, run) => {
    const { client, now } = await start();
    await namespace(client, name, run);
    const { foreign } = await deleteLeftovers(client, { now: now + 60 * MINUTE_MS, force: true });
    expect(foreign).toEqual([name]);
    expect(await names(client)).toEqual([name]);
  });

  it('of two with one name, the one that was listed is deleted', async () => {
    const { client, now } = await start();
    const replaced = withChanges(client, {
      delete: async (type, key, ...rest) => {
        await client.delete(type, key);
        const awaited = { resource: NAMESPACES, labelSelector: `${RUN_LABEL}=00000a` };
        await untilObjects(client, awaited, (left) => left.length === 0, AbortSignal.timeout(10_000));
        await namespace(client, key.name, '00000a');
        return await client.delete(type, key, ...rest);
      },
    });
    await deleteLeftovers(replaced, { now, force: false });
    expect(await names(client)).toEqual(['connectivity-00000a-a', 'connectivity-00000b-b']);
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
