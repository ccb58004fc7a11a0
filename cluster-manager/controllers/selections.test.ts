/** What a pod may select, and what a selection costs others. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { layer3Udn, nad, namespace, netConf, node, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await createTestCluster();
  cluster.start();
  await cluster.createAndSettle(
    namespace('other'),
    node('n1'),
    nad('default/n', netConf('default/n', 'shared', { role: 'secondary', subnets: '10.9.0.0/24' })),
  );
});
afterEach(() => cluster.close());

const { annotation, addressOf, eventsAbout } = observe(() => cluster);

const SELECTION = 'k8s.v1.cni.cncf.io/networks';
const selecting = (count: number) => ({ annotations: { [SELECTION]: Array(count).fill('default/n').join(',') } });
const entriesOf = async (key: string) => JSON.parse((await annotation('Pod', key, 'pod-networks')) ?? '{}');
const held = () => cluster.manager.state?.pods.sizeOf('shared');

it('32 networks are given, 33 refused, and hold nothing', async () => {
  await cluster.createAndSettle(pod('other/most', selecting(32)), pod('other/many', selecting(33)));
  expect(Object.keys(await entriesOf('other/most'))).toHaveLength(32);
  expect(await entriesOf('other/many')).toEqual({});
  expect(eventsAbout('most')).toEqual([]);
  expect(eventsAbout('many')).toEqual([
    `ErrorAllocatingPod: annotation ${SELECTION} of Pod other/many: at most 32 networks are possible, 33 are requested`,
  ]);
  expect(held()).toBe(32);
});

it('what nothing follows is an event, once it is about a network of ours', async () => {
  const { events } = cluster;
  const selection = JSON.stringify([
    { namespace: 'default', name: 'n', 'cni-args': { a: 1 }, 'x.y': 1, ip: 1 },
    { name: 'macvlan', bandwidth: { ingressRate: 1 } },
  ]);
  const annotations = { [SELECTION]: selection, 'k8s.ovn.org/requested-primary-udn': 'x' };
  await cluster.createAndSettle(nad('other/macvlan', { type: 'macvlan' }), pod('other/p', { annotations }));
  expect(eventsAbout('p')).toEqual([
    `RequestIgnored: ${SELECTION}: default/n: cni-args has no effect`,
    `RequestIgnored: ${SELECTION}: default/n: "ip" is unknown and ignored`,
    'RequestIgnored: k8s.ovn.org/requested-primary-udn has no effect: a pod is on the primary network of its namespace',
  ]);
  expect(events.every(({ type }) => type === 'Warning')).toBe(true);
});

const DEFAULT_NETWORK = 'v1.multus-cni.io/default-network';
const PRIMARY_CLAIM = 'k8s.ovn.org/primary-udn-ipamclaim';

describe('what is asked of a network whose addresses the node gives', () => {
  const asked = { namespace: 'ovn-kubernetes', name: 'default', 'ipam-claim-reference': 'c' };
  const annotated = (key: string, request: string) =>
    pod(key, { annotations: { [DEFAULT_NETWORK]: request, [PRIMARY_CLAIM]: 'c' } });

  it('is an event on the default network, also where it cannot be read', async () => {
    await cluster.createAndSettle(
      annotated('other/asks', JSON.stringify([{ ...asked, mac: '02:00:00:00:00:09' }])),
      annotated('other/broken', '{'),
    );
    const why =
      'has no effect: namespace other has no primary network, and on the default network the node allocates addresses';
    expect(eventsAbout('asks')).toEqual([
      `RequestIgnored: ${DEFAULT_NETWORK}: mac ${why}`,
      `RequestIgnored: ${DEFAULT_NETWORK}: ipam-claim-reference ${why}`,
      `RequestIgnored: ${PRIMARY_CLAIM} ${why}`,
    ]);
    const [unreadable, claim] = eventsAbout('broken');
    expect(unreadable).toMatch(
      /^RequestIgnored: annotation v1.multus-cni.io\/default-network of Pod other\/broken: .*: ignored$/,
    );
    expect(claim).toBe(`RequestIgnored: ${PRIMARY_CLAIM} ${why}`);
  });

  it('is an event on a layer-3 network where it cannot be read, and one for the claim', async () => {
    await cluster.createAndSettle(tenant('ns'), layer3Udn('ns/net', ['10.20.0.0/16']), annotated('ns/broken', '{'));
    const [unreadable, claim, ...more] = eventsAbout('broken');
    expect(unreadable).toMatch(/of Pod ns\/broken: .*: ignored$/);
    expect(claim).toMatch(
      /^RequestIgnored: k8s.ovn.org\/primary-udn-ipamclaim has no effect: network ns_net has topology/,
    );
    expect(more).toEqual([]);
  });
});

describe('a static address on a layer-3 primary network', () => {
  const asked = { namespace: 'ovn-kubernetes', name: 'default', ips: ['10.20.0.9/16', 'fd20::9/64'] };
  const asking = pod('ns/p', {
    annotations: { [DEFAULT_NETWORK]: JSON.stringify([{ ...asked, mac: '02:00:00:00:00:09' }]) },
  });
  const network = layer3Udn('ns/net', ['10.20.0.0/16', 'fd20::/48']);

  it.each([
    ['before', [asking], [network]],
    ['after', [network], [asking]],
  ])('is an event for a pod from %s the network', async (_when, first, second) => {
    await cluster.createAndSettle(tenant('ns'), ...first);
    await cluster.createAndSettle(...second);
    const why =
      'has no effect: network ns_net has topology Layer3, where the node allocates addresses; use Layer2 for static ones';
    expect(eventsAbout('p')).toEqual([
      `RequestIgnored: ${DEFAULT_NETWORK}: ips ${why}`,
      `RequestIgnored: ${DEFAULT_NETWORK}: mac ${why}`,
    ]);
  });
});

it('tens of thousands are not looked at one by one', async () => {
  const { state } = cluster.manager;
  if (state === undefined) throw new Error('no manager runs');
  let lookups = 0;
  const { nad: lookUp } = state.registry;
  state.registry.nad = (key) => {
    lookups += 1;
    return lookUp.call(state.registry, key);
  };
  await cluster.createAndSettle(pod('other/p', selecting(20_000)));
  expect(eventsAbout('p')).toHaveLength(1);
  expect(lookups).toBe(0);
  expect(cluster.manager.mirrors.caches.pods.keysByIndex('selectedNad', 'default/n')).toHaveLength(0);
});

it('what has no room in the annotations of the pod is refused before it is given out, until there is room', async () => {
  const { annotations } = selecting(32);
  await cluster.createAndSettle(pod('other/full', { annotations: { ...annotations, notes: 'x'.repeat(255_000) } }));
  expect(eventsAbout('full').join()).toMatch(
    /^ErrorAllocatingPod: no room for 32 networks in the pod's annotations: up to \d+ bytes are needed, \d+ of 262144 are left$/,
  );
  expect(held()).toBe(0);
  await cluster.patchAndSettle('Pod', 'other/full', { metadata: { annotations: { notes: 'x'.repeat(200_000) } } });
  expect(Object.keys(await entriesOf('other/full'))).toHaveLength(32);
  expect(await addressOf('other/full', 'default/n')).toBe('10.9.0.1/24');
});
