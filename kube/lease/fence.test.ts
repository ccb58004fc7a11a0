import { expect, it } from 'vitest';
import { createEmbeddedCluster } from '../embedded/cluster.ts';
import { NODES } from '../resources.ts';
import { fencedClient } from './fence.ts';

const refused = expect.objectContaining({ code: 'ERR_KUBE_NOT_LEADING' });

it('lets everything pass while the lease is held', async () => {
  const client = fencedClient(createEmbeddedCluster().client(), () => true);
  const node = await client.create(NODES, { metadata: { name: 'n1' } });
  await client.update(NODES, node);
  await client.patch(NODES, { name: 'n1' }, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
  expect((await client.get(NODES, { name: 'n1' })).metadata.labels).toEqual({ a: 'b' });
  await client.delete(NODES, { name: 'n1' });
  expect((await client.list(NODES)).items).toEqual([]);
});

it('reads, but writes nothing, from the moment that it is not', async () => {
  let isHeld = true;
  const client = fencedClient(createEmbeddedCluster().client(), () => isHeld);
  const node = await client.create(NODES, { metadata: { name: 'n1' } });
  isHeld = false;
  await expect(client.create(NODES, { metadata: { name: 'n2' } })).rejects.toEqual(refused);
  await expect(client.update(NODES, node)).rejects.toEqual(refused);
  await expect(client.patch(NODES, { name: 'n1' }, { type: 'merge', body: {} })).rejects.toEqual(refused);
  await expect(client.delete(NODES, { name: 'n1' })).rejects.toEqual(refused);
  await expect(client.request({ method: 'POST', path: '/api/v1/nodes', body: {} })).rejects.toEqual(refused);
  expect((await client.list(NODES)).items.map(({ metadata }) => metadata)).toEqual([node.metadata]);
  expect(await client.get(NODES, { name: 'n1' })).toEqual(node);
});
