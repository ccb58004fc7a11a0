import { describe, expect, it } from 'vitest';
import { cudn, layer2Udn, layer3Udn, nad, namespace, netConf, node, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest({ isStarted: true });

const { annotation, condition, addressOf } = observe(() => cluster);
const NAD = 'NetworkAttachmentDefinition';
const ID_NAMES = ['network-name', 'network-id', 'tunnel-keys'] as const;

const idsOf = (key: string) => Promise.all(ID_NAMES.map((name) => annotation(NAD, key, name)));

const configOf = async (key: string): Promise<Record<string, unknown>> => {
  const found = await cluster.get(NAD, key);
  return JSON.parse((found?.['spec'] as { config?: string } | undefined)?.config ?? '');
};

const edit = async (key: string, fields: Record<string, unknown>): Promise<void> => {
  const config = JSON.stringify({ ...(await configOf(key)), ...fields });
  await cluster.patch(NAD, key, { spec: { config } });
};

const EDITS = {
  'another name': { name: 'oops' },
  'another plugin': { type: 'bridge' },
  'another topology': { topology: 'layer3', subnets: '10.77.0.0/16/24' },
  'other subnets': { subnets: '10.77.0.0/16' },
  nonsense: { mtu: 'large' },
};

/** Ids and subnets below those of the network are free when it is edited: what is given out again is not what there was. */
const withGaps = async (): Promise<void> => {
  const names = ['a', 'b', 'c', 'd'];
  await cluster.createAndSettle(...names.map((name) => tenant(name)), node('n1'), node('n2'), node('n3'));
  await cluster.createAndSettle(layer2Udn('a/net', ['10.20.0.0/16']));
  await cluster.createAndSettle(layer3Udn('b/net', ['10.20.0.0/16']));
  await cluster.createAndSettle(layer2Udn('c/net', ['10.20.0.0/16']), pod('c/first'), pod('c/second'));
  await cluster.createAndSettle(layer3Udn('d/net', ['10.20.0.0/16']));
  await cluster.delete('Pod', 'c/first');
  await cluster.delete('Node', 'n1');
  await cluster.delete('UserDefinedNetwork', 'a/net');
  await cluster.deleteAndSettle('UserDefinedNetwork', 'b/net');
};

const held = async () => ({
  ids: [await idsOf('c/net'), await idsOf('d/net')],
  subnets: await Promise.all(['n2', 'n3'].map((name) => annotation('Node', name, 'node-subnets'))),
  address: await addressOf('c/second', 'c/net'),
});

describe('a NAD of a network that somebody edits', () => {
  it.each(Object.entries(EDITS))(
    'with %s is put right, and the network keeps all that it has',
    async (_name, fields) => {
      await withGaps();
      const before = await held();
      const configs = [await configOf('c/net'), await configOf('d/net')];
      expect(before.ids.flat()).toEqual(['c_net', '3', '[16711686,16715781]', 'd_net', '4', undefined]);
      await edit('c/net', fields);
      await edit('d/net', fields);
      await cluster.settled();
      expect([await configOf('c/net'), await configOf('d/net')]).toEqual(configs);
      expect(await held()).toEqual(before);
      await cluster.createAndSettle(pod('c/third'));
      expect(await addressOf('c/third', 'c/net')).not.toBe(before.address);
    },
  );

  it.each(Object.entries(EDITS))('with %s while nobody looks keeps all that it has, too', async (_name, fields) => {
    await withGaps();
    const before = await held();
    const configs = [await configOf('c/net'), await configOf('d/net')];
    await cluster.stop();
    await edit('c/net', fields);
    await edit('d/net', fields);
    cluster.start();
    await cluster.settled();
    expect([await configOf('c/net'), await configOf('d/net')]).toEqual(configs);
    expect(await held()).toEqual(before);
  });

  it.each([{ controller: false }, { blockOwnerDeletion: false }, { kind: 'Pod' }, { apiVersion: 'v1' }, { name: 'x' }])(
    'with %j in its owner reference is put right, and its network still waits for its pods',
    async (fields) => {
      const references = async () => (await cluster.get(NAD, 'ns/net'))?.metadata.ownerReferences ?? [];
      await cluster.createAndSettle(tenant('ns'), node('n1'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'));
      const before = await references();
      const ownerReferences = before.map((reference) => ({ ...reference, ...fields }));
      await cluster.patchAndSettle(NAD, 'ns/net', { metadata: { ownerReferences } });
      expect(await references()).toEqual(before);
      await cluster.delete('UserDefinedNetwork', 'ns/net');
      await cluster.patchAndSettle(NAD, 'ns/net', { metadata: { ownerReferences } });
      expect(await cluster.get('UserDefinedNetwork', 'ns/net')).toBeDefined();
      expect(await idsOf('ns/net')).toEqual(['ns_net', '1', '[16711684,16715779]']);
      await cluster.deleteAndSettle('Pod', 'ns/p');
      expect(await cluster.get('UserDefinedNetwork', 'ns/net')).toBeUndefined();
      expect(await cluster.get(NAD, 'ns/net')).toBeUndefined();
    },
  );
});

describe('a NAD without its owner reference', () => {
  it.each(['while the cluster manager looks', 'while nobody looks'])(
    '%s, has it again, and goes with its network',
    async (when) => {
      const isSeen = when !== 'while nobody looks';
      await withGaps();
      const before = await held();
      if (!isSeen) await cluster.stop();
      for (const key of ['c/net', 'd/net']) await cluster.patch(NAD, key, { metadata: { ownerReferences: null } });
      if (!isSeen) cluster.start();
      await cluster.settled();
      for (const key of ['c/net', 'd/net']) {
        const { uid } = (await cluster.get('UserDefinedNetwork', key))?.metadata ?? {};
        expect((await cluster.get(NAD, key))?.metadata.ownerReferences).toMatchObject([{ uid, controller: true }]);
        expect(await condition('UserDefinedNetwork', key)).toMatchObject({ status: 'True' });
      }
      expect(await held()).toEqual(before);
      await cluster.delete('Pod', 'c/second');
      for (const key of ['c/net', 'd/net']) await cluster.delete('UserDefinedNetwork', key);
      await cluster.settled();
      expect(await cluster.list('UserDefinedNetwork')).toEqual([]);
      expect(await cluster.list(NAD)).toEqual([]);
    },
  );

  it('is a stranger where its network has not been rendered to it', async () => {
    const copy = nad('ns/net', netConf('ns/net', 'ns_net', { subnets: '10.77.0.0/16' }));
    await cluster.createAndSettle(tenant('ns'), copy);
    await cluster.createAndSettle(layer2Udn('ns/net', ['10.20.0.0/16']));
    expect(await condition('UserDefinedNetwork', 'ns/net')).toMatchObject({
      status: 'False',
      message: 'foreign NetworkAttachmentDefinition with the desired name already exist [ns/net]',
    });
    expect(await configOf('ns/net')).toMatchObject({ subnets: '10.77.0.0/16' });
  });
});

describe('the NADs of a ClusterUserDefinedNetwork', () => {
  it.each([{ controller: false }, { kind: 'Pod' }, { name: 'x' }])(
    'keep their network when one has %j in its owner reference',
    async (fields) => {
      const network = { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.30.0.0/16'] } };
      await cluster.create(namespace('a', { team: 'x' }), namespace('b', { team: 'x' }), node('n1'));
      await cluster.createAndSettle(cudn('blue', { matchLabels: { team: 'x' } }, network));
      const changes: (string | undefined)[] = [];
      const follow = cluster.manager.mirrors.caches.nads.subscribe(({ key, after }) => {
        if (key === 'b/blue') changes.push(after?.metadata.annotations['k8s.ovn.org/network-id']);
      });
      const references = (await cluster.get(NAD, 'b/blue'))?.metadata.ownerReferences ?? [];
      const ownerReferences = references.map((reference) => ({ ...reference, ...fields }));
      await cluster.patchAndSettle(NAD, 'b/blue', { metadata: { ownerReferences } });
      follow();
      expect((await cluster.get(NAD, 'b/blue'))?.metadata.ownerReferences).toEqual(references);
      expect(new Set(changes)).toEqual(new Set(['1']));
    },
  );

  it('keep their network when the oldest of them is edited', async () => {
    const network = { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.30.0.0/16'] } };
    await cluster.create(namespace('a', { team: 'x' }), namespace('b', { team: 'x' }), node('n1'));
    await cluster.createAndSettle(cudn('blue', { matchLabels: { team: 'x' } }, network));
    const before = [await idsOf('a/blue'), await idsOf('b/blue')];
    await edit('a/blue', { subnets: '10.77.0.0/16', name: 'cluster_udn_red' });
    await cluster.settled();
    expect([await idsOf('a/blue'), await idsOf('b/blue')]).toEqual(before);
    expect(cluster.manager.state?.registry.get('cluster_udn_red')).toBeUndefined();
  });
});
