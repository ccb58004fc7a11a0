/** NADs that were written by hand, deleted under pods and created again: what these run with stays, and an event says what it waits for. */
import { describe, expect, it } from 'vitest';
import { UDN_FINALIZER } from '../../api/names.ts';
import { nad, namespace, netConf, node, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest({ isStarted: true });
const { annotation, addressOf, eventsAbout } = observe(() => cluster);

const NAD = 'NetworkAttachmentDefinition';
const BASE = { role: 'secondary', subnets: '10.20.0.0/24' };
const IN_USE =
  'NetworkInUse: pods use it: they keep what they have, and it is deleted, and can be created again, when the last of them is gone; udnctl why network a/net names them';

const wire = (fields: Readonly<Record<string, unknown>> = {}) =>
  nad('a/net', netConf('a/net', 'wire', { ...BASE, ...fields }));
const on = (key: string, networks = 'net') => pod(key, { annotations: { 'k8s.v1.cni.cncf.io/networks': networks } });
const finalizers = async (key: string) => (await cluster.get(NAD, key))?.metadata.finalizers ?? [];
const withoutFinalizers = { metadata: { finalizers: null } };

it('stays, with its ids, until the last pod is gone; then another one may come in its place', async () => {
  await cluster.createAndSettle(namespace('a'), node('n1'), wire(), on('a/first'), on('a/second'));
  const id = await annotation(NAD, 'a/net', 'network-id');
  await cluster.deleteAndSettle(NAD, 'a/net');
  await expect(cluster.create(wire({ subnets: '10.77.0.0/24' }))).rejects.toThrow(/already exists/);
  expect(await annotation(NAD, 'a/net', 'network-id')).toBe(id);
  expect(await addressOf('a/second', 'a/net')).toBe('10.20.0.2/24');
  await cluster.deleteAndSettle('Pod', 'a/first');
  expect(await cluster.get(NAD, 'a/net')).toBeDefined();
  expect(eventsAbout('net')).toEqual([IN_USE]);
  await cluster.deleteAndSettle('Pod', 'a/second');
  expect(await cluster.get(NAD, 'a/net')).toBeUndefined();
  await cluster.createAndSettle(wire({ subnets: '10.77.0.0/24' }), on('a/third'));
  expect(await addressOf('a/third', 'a/net')).toBe('10.77.0.1/24');
  expect(eventsAbout('net')).toEqual([IN_USE]);
});

it('waits also where it was deleted, and a pod went, while the cluster manager was away', async () => {
  await cluster.createAndSettle(namespace('a'), node('n1'), wire(), on('a/first'), on('a/second'));
  await cluster.stop();
  await cluster.delete(NAD, 'a/net');
  await cluster.delete('Pod', 'a/first');
  cluster.start();
  await cluster.settled();
  expect(await cluster.get(NAD, 'a/net')).toBeDefined();
  await cluster.deleteAndSettle('Pod', 'a/second');
  expect(await cluster.get(NAD, 'a/net')).toBeUndefined();
});

it('gives nothing to pods that come while it waits', async () => {
  await cluster.createAndSettle(namespace('a'), node('n1'), wire(), on('a/first'));
  await cluster.deleteAndSettle(NAD, 'a/net');
  await cluster.createAndSettle(on('a/late'));
  expect(await addressOf('a/late', 'a/net')).toBeUndefined();
  expect(eventsAbout('late').join()).toContain('network wire is being removed: its pods get no addresses');
});

it.each([
  ['of a primary network', tenant('a'), { role: 'primary', subnets: '10.20.0.0/16' }, pod('a/first')],
  ['of a localnet', namespace('a'), { topology: 'localnet', physicalNetworkName: 'dc' }, on('a/first')],
])('%s waits, too', async (_, place, fields, first) => {
  await cluster.createAndSettle(place, node('n1'), wire(fields), first);
  await cluster.deleteAndSettle(NAD, 'a/net');
  expect(eventsAbout('net')).toEqual([IN_USE]);
  await cluster.deleteAndSettle('Pod', 'a/first');
  expect(await cluster.get(NAD, 'a/net')).toBeUndefined();
});

describe('the finalizer', () => {
  it('is there before there is a pod, beside those of others, and comes back', async () => {
    const { metadata, ...rest } = wire();
    const held = { ...rest, metadata: { ...metadata, finalizers: ['example.com/mine'] } };
    await cluster.createAndSettle(namespace('a'), node('n1'), held);
    expect((await finalizers('a/net')).toSorted()).toEqual(['example.com/mine', UDN_FINALIZER]);
    await cluster.patchAndSettle(NAD, 'a/net', withoutFinalizers);
    expect(await finalizers('a/net')).toEqual([UDN_FINALIZER]);
  });

  it('is not on what is no network of ours, and goes when it is none any more', async () => {
    await cluster.createAndSettle(
      namespace('a'),
      nad('a/other', { type: 'bridge' }),
      nad('a/bad', netConf('a/bad', 'bad', { role: 'Primary' })),
      wire(),
    );
    expect([await finalizers('a/other'), await finalizers('a/bad')]).toEqual([[], []]);
    await cluster.patchAndSettle(NAD, 'a/net', { spec: { config: '{"cniVersion":"1.0.0","type":"bridge"}' } });
    expect(await finalizers('a/net')).toEqual([]);
  });

  it('comes to NADs of before, once', async () => {
    await cluster.stop();
    await cluster.create(namespace('a'), node('n1'), wire());
    cluster.start();
    await cluster.settled();
    expect(await finalizers('a/net')).toEqual([UDN_FINALIZER]);
    const before = (await cluster.get(NAD, 'a/net'))?.metadata.resourceVersion;
    await cluster.stop();
    cluster.start();
    await cluster.settled();
    expect((await cluster.get(NAD, 'a/net'))?.metadata.resourceVersion).toBe(before);
  });
});

it('by whoever takes the finalizer away, pods hear that their addresses are not the network’s', async () => {
  await cluster.createAndSettle(namespace('a'), node('n1'), wire(), on('a/first'));
  await cluster.delete(NAD, 'a/net');
  await cluster.patchAndSettle(NAD, 'a/net', withoutFinalizers);
  await cluster.createAndSettle(wire({ subnets: '10.77.0.0/24' }), on('a/second'));
  expect([await addressOf('a/first', 'a/net'), await addressOf('a/second', 'a/net')]).toEqual([
    '10.20.0.1/24',
    '10.77.0.1/24',
  ]);
  expect(eventsAbout('first')).toEqual([
    'AllocationConflict: network wire: address 10.20.0.1/24 is not in the subnets of the network; delete the pod',
  ]);
});
