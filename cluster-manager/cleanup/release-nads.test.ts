import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdFiles } from '../../api/crd/crds.ts';
import { UDN_FINALIZER } from '../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { systemClock } from '../../base/clock.ts';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import { KubeError } from '../../kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { releaseNads } from './release-nads.ts';

const log = () => {
  const nads: unknown[] = [];
  return { nads, info: (fields: unknown) => void nads.push((fields as { object: string }).object) };
};

const emptyCluster = () => createEmbeddedCluster({ clock: systemClock });

const clusterWithNads = async (nads: Readonly<Record<string, readonly string[]>>): Promise<KubeClient> => {
  const server = emptyCluster();
  const client = server.client('test');
  for (const text of Object.values(crdFiles())) await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(text));
  await server.settled();
  await client.create(NAMESPACES, { metadata: { name: 'red' } });
  for (const [name, finalizers] of Object.entries(nads)) {
    const spec = { config: '{}' };
    await client.create(NETWORK_ATTACHMENT_DEFINITIONS, { metadata: { namespace: 'red', name, finalizers }, spec });
  }
  return client;
};

const finalizersOf = async (client: KubeClient, name: string) =>
  (await client.get(NETWORK_ATTACHMENT_DEFINITIONS, { namespace: 'red', name })).metadata.finalizers ?? [];

it('takes our finalizer from NADs, and leaves those of others', async () => {
  const client = await clusterWithNads({ held: ['example.com/mine', UDN_FINALIZER], other: ['example.com/mine'] });
  const first = log();
  await releaseNads({ client, log: first });
  expect([await finalizersOf(client, 'held'), await finalizersOf(client, 'other')]).toEqual([
    ['example.com/mine'],
    ['example.com/mine'],
  ]);
  expect(first.nads).toEqual(['NetworkAttachmentDefinition/red/held']);
  const second = log();
  await releaseNads({ client, log: second });
  expect(second.nads).toEqual([]);
});

it('names those that keep it, and releases the others', async () => {
  const client = await clusterWithNads({ one: [UDN_FINALIZER], two: [UDN_FINALIZER] });
  const patch: KubeClient['patch'] = async (resource, ref, ...rest) => {
    if (ref.name === 'one') throw new KubeError('ERR_KUBE_STATUS', 'refused', { status: 403 });
    return client.patch(resource, ref, ...rest);
  };
  await expect(releaseNads({ client: { list: client.list.bind(client), patch }, log: log() })).rejects.toThrow(
    'not everything could be released: red/one: refused',
  );
  expect([await finalizersOf(client, 'one'), await finalizersOf(client, 'two')]).toEqual([[UDN_FINALIZER], []]);
});

it('finds nothing to do in a cluster without the definition', async () => {
  await expect(releaseNads({ client: emptyCluster().client('test'), log: log() })).resolves.toBeUndefined();
});
