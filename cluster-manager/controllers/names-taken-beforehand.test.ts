/** A tenant's administrator writes a NAD with the network name, and an owner, that a ClusterUserDefinedNetwork will have. */
import { describe, expect, it } from 'vitest';
import { cudn, nad, netConf, node, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest({ isStarted: true });

const { annotation, addressOf, condition, eventsAbout } = observe(() => cluster);
const NAD = 'NetworkAttachmentDefinition';
const SUBNETS = '10.20.0.0/16';
const BLUE = { topology: 'Layer2', layer2: { role: 'Primary', subnets: [SUBNETS] } };
const NAME = 'cluster_udn_blue';
const BELONGS = `InvalidNetwork: network name ${NAME} belongs to ClusterUserDefinedNetwork blue`;
const idOf = (key: string) => annotation(NAD, key, 'network-id');

const owner = (uid: string, kind = 'ClusterUserDefinedNetwork') => [
  { apiVersion: 'k8s.ovn.org/v1', kind, name: 'blue', uid, controller: true, blockOwnerDeletion: true },
];
const taken = (metadata = {}) => nad('evil/blue', netConf('evil/blue', NAME, { subnets: SUBNETS }), metadata);
const HELD = ['example.org/held'];
const blue = () => cudn('blue', { matchLabels: { team: 'a' } }, BLUE);
/** An event of the NAD that changes nothing of what it is. */
const touch = () => cluster.patchAndSettle(NAD, 'evil/blue', { metadata: { labels: { touched: '' } } });

const namespaces = () => cluster.createAndSettle(tenant('a', { team: 'a' }), tenant('evil'), node('n1'));

const expectClosed = async (): Promise<void> => {
  await cluster.createAndSettle(pod('a/p'), pod('evil/p'));
  expect(await addressOf('evil/p', 'evil/blue')).toBeUndefined();
  expect(await addressOf('a/p', 'a/blue')).toMatch(/^10\.20\./);
  expect(await idOf('evil/blue')).toBeUndefined();
  expect(await condition('ClusterUserDefinedNetwork', 'blue', 'NetworkAllocationSucceeded')).toMatchObject({
    status: 'True',
  });
};

describe('the name of a network of the cluster', () => {
  it.each([
    ['an owner that does not exist', owner('made-up')],
    ['an owner of another kind', owner('made-up', 'UserDefinedNetwork')],
    ['no owner', []],
  ])('gives no ids to a NAD with %s, before and after its network comes', async (_which, ownerReferences) => {
    await namespaces();
    // Without the finalizer the garbage collector is quicker.
    await cluster.createAndSettle(taken({ ownerReferences, finalizers: HELD }));
    await touch();
    expect(await idOf('evil/blue')).toBeUndefined();
    expect(cluster.manager.state?.registry.get(NAME)).toBeUndefined();
    expect(eventsAbout('blue')).toContain(BELONGS);
    await cluster.patchAndSettle(NAD, 'evil/blue', { metadata: { ownerReferences: [] } });
    await cluster.createAndSettle(blue());
    await expectClosed();
  });

  it('is not left to another NAD when the last one of its network goes', async () => {
    await namespaces();
    await cluster.createAndSettle(blue());
    await cluster.createAndSettle(taken());
    await cluster.deleteAndSettle('ClusterUserDefinedNetwork', 'blue');
    await touch();
    expect(await idOf('evil/blue')).toBeUndefined();
    expect(cluster.manager.state?.registry.get(NAME)).toBeUndefined();
    await cluster.createAndSettle(blue());
    await expectClosed();
  });

  it.each([
    ['keeps its owner', false],
    ['loses its owner', true],
  ])('is taken back from a NAD of an earlier version that has ids and %s', async (_what, isStripped) => {
    await namespaces();
    await cluster.stop();
    const annotations = {
      'k8s.ovn.org/network-name': NAME,
      'k8s.ovn.org/network-id': '7',
      'k8s.ovn.org/tunnel-keys': '[16711690,16715790]',
    };
    await cluster.create(taken({ ownerReferences: owner('made-up'), annotations, finalizers: HELD }));
    cluster.start();
    await cluster.settled();
    await touch();
    expect(await idOf('evil/blue')).toBe('7');
    if (isStripped) await cluster.patchAndSettle(NAD, 'evil/blue', { metadata: { ownerReferences: [] } });
    await cluster.createAndSettle(blue());
    await expectClosed();
  });

  it('is not kept by a namespace that its network has left, without the owner reference', async () => {
    await cluster.createAndSettle(
      tenant('a', { team: 'a' }),
      tenant('evil', { team: 'a' }),
      node('n1'),
      blue(),
      pod('evil/old'),
    );
    await cluster.patchAndSettle('Namespace', 'evil', { metadata: { labels: { team: 'none' } } });
    await cluster.patchAndSettle(NAD, 'evil/blue', { metadata: { ownerReferences: [] } });
    await expectClosed();
  });
});
