import { afterEach, expect, it } from 'vitest';
import { UDN_FINALIZER } from '../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { layer2Udn, nad, namespace, tenant } from '../testing/objects.ts';
import { removeFinalizer } from './finalizer.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const REF = { namespace: 'ns', name: 'net' };
const finalizers = async () => (await cluster.get('NetworkAttachmentDefinition', 'ns/net'))?.metadata.finalizers;
const remove = (known: readonly string[]) =>
  removeFinalizer(cluster.client, NETWORK_ATTACHMENT_DEFINITIONS, REF, known, UDN_FINALIZER);

it('a finalizer of ours goes, one of others stays, also when it came a moment ago', async () => {
  cluster = await createTestCluster();
  await cluster.create(namespace('ns'), nad('ns/net', '{}', { finalizers: ['example.com/hold', UDN_FINALIZER] }));
  await expect(remove([UDN_FINALIZER])).rejects.toThrow();
  expect(await finalizers()).toEqual(['example.com/hold', UDN_FINALIZER]);
  await remove(['example.com/hold', UDN_FINALIZER]);
  expect(await finalizers()).toEqual(['example.com/hold']);
  await remove(['example.com/hold']);
  expect(await finalizers()).toEqual(['example.com/hold']);
});

it('an object that is gone has none', async () => {
  cluster = await createTestCluster();
  await cluster.create(namespace('ns'));
  await expect(remove([UDN_FINALIZER])).resolves.toBeUndefined();
});

it('a network that somebody replaced without it gets it back', async () => {
  cluster = await createTestCluster();
  cluster.start();
  await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']));
  const held = async () => (await cluster.get('UserDefinedNetwork', 'ns/net'))?.metadata.finalizers;
  expect(await held()).toEqual([UDN_FINALIZER]);
  await cluster.patchAndSettle('UserDefinedNetwork', 'ns/net', { metadata: { finalizers: null } });
  expect(await held()).toEqual([UDN_FINALIZER]);
});
