/** NADs that were written by hand, edited under pods: what these run with stays, and an event says what the edit comes to. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../kube/types.ts';
import { nad, namespace, netConf, node, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest({ isStarted: true });
const { annotation, addressOf, eventsAbout } = observe(() => cluster);

const NAD = 'NetworkAttachmentDefinition';
const SELECTION = 'k8s.v1.cni.cncf.io/networks';
const BASE = { role: 'secondary', subnets: '10.20.0.0/24,fd00:20::/64', mtu: 1300 };

const confOf = (key: string, fields: Record<string, unknown> = {}) => netConf(key, 'wire', { ...BASE, ...fields });

const on = (key: string, networks = 'net') => pod(key, { annotations: { [SELECTION]: networks } });

const edit = (key: string, fields: Record<string, unknown>): Promise<void> =>
  cluster.patchAndSettle(NAD, key, { spec: { config: JSON.stringify(confOf(key, fields)) } });

/** What agents go by. */
const adopted = async (key: string): Promise<Record<string, unknown>> =>
  JSON.parse((await annotation(NAD, key, 'network-config')) ?? '{}');

const eventsOf = (key: string): string[] => eventsAbout(key.split('/')[1] ?? '');

const withPod = () => cluster.createAndSettle(namespace('a'), node('n1'), nad('a/net', confOf('a/net')), on('a/first'));

const IGNORED = (keys: string): string =>
  `NetworkEditIgnored: pods are on network wire, so the edit of ${keys} has no effect: they keep what they have, and new ones get the same; it is followed when the last of them is gone, or make another network`;

describe('an edit that pods could not run on with', () => {
  it.each([
    ['subnets', { subnets: '10.77.0.0/24' }],
    ['role, subnets', { role: 'primary', subnets: '10.77.0.0/24' }],
    ['topology', { topology: 'localnet' }],
    ['mtu, subnets', { subnets: '', mtu: 1290 }],
    ['name', { name: 'other' }],
    ['type', { type: 'bridge' }],
  ])('of %s has no effect while there are any, and is followed when the last one goes', async (keys, fields) => {
    await withPod();
    const before = [await adopted('a/net'), await annotation(NAD, 'a/net', 'network-id')];
    expect(before).toMatchObject([{ name: 'wire', subnets: BASE.subnets }, '1']);
    await edit('a/net', fields);
    await cluster.createAndSettle(on('a/second'));
    expect([await adopted('a/net'), await annotation(NAD, 'a/net', 'network-id')]).toEqual(before);
    expect([await addressOf('a/first', 'a/net'), await addressOf('a/second', 'a/net')]).toEqual([
      '10.20.0.1/24',
      '10.20.0.2/24',
    ]);
    expect(eventsOf('a/net')).toEqual([IGNORED(keys)]);
    await cluster.deleteAndSettle('Pod', 'a/first');
    expect(await adopted('a/net')).toEqual(before[0]);
    await cluster.deleteAndSettle('Pod', 'a/second');
    // Keys without a value are left out.
    const { subnets, ...others } = confOf('a/net', fields);
    const now = subnets === '' ? others : { ...others, subnets };
    expect(await adopted('a/net')).toEqual(keys === 'type' ? {} : now);
    expect(eventsOf('a/net')).toEqual([IGNORED(keys)]);
  });

  it.each([
    ['the label of rendered ones', { labels: { 'k8s.ovn.org/user-defined-network': '' } }],
    [
      'an owner of another kind with the same name',
      { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'UserDefinedNetwork', name: 'net', uid: 'made-up' }] },
    ],
  ])('has none either where its author gives the NAD %s', async (_what, metadata) => {
    await withPod();
    const before = await adopted('a/net');
    const config = JSON.stringify(confOf('a/net', { subnets: '10.77.0.0/24' }));
    await cluster.patchAndSettle(NAD, 'a/net', { metadata, spec: { config } });
    await cluster.createAndSettle(on('a/second'));
    expect(await adopted('a/net')).toEqual(before);
    expect(await addressOf('a/second', 'a/net')).toBe('10.20.0.2/24');
    expect(eventsOf('a/net')).toEqual([IGNORED('subnets')]);
  });

  it('has none after a restart of the cluster manager, and none that is made while it is away', async () => {
    await withPod();
    const before = await adopted('a/net');
    await edit('a/net', { subnets: '10.77.0.0/24' });
    await cluster.stop();
    await edit('a/net', { subnets: '10.78.0.0/24' });
    cluster.start();
    await cluster.createAndSettle(on('a/second'));
    expect(await adopted('a/net')).toEqual(before);
    expect(await addressOf('a/second', 'a/net')).toBe('10.20.0.2/24');
    await cluster.delete('Pod', 'a/first');
    await cluster.deleteAndSettle('Pod', 'a/second');
    await cluster.createAndSettle(on('a/third'));
    expect(await addressOf('a/third', 'a/net')).toBe('10.78.0.1/24');
    expect(await adopted('a/net')).toMatchObject({ subnets: '10.78.0.0/24' });
  });

  it('is said once for each edit, and taken back by the next one', async () => {
    await withPod();
    await edit('a/net', { subnets: '10.77.0.0/24' });
    await cluster.patchAndSettle(NAD, 'a/net', { metadata: { labels: { x: 'y' } } });
    await edit('a/net', { subnets: '10.78.0.0/24' });
    expect(eventsOf('a/net')).toEqual([IGNORED('subnets')]);
    await edit('a/net', {});
    await edit('a/net', { subnets: '10.77.0.0/24' });
    expect(eventsOf('a/net')).toEqual([IGNORED('subnets'), IGNORED('subnets')]);
  });

  it('waits for no pod that has nothing of the network, or may not be on it', async () => {
    await cluster.create(namespace('a'), namespace('evil'), node('n1'));
    await cluster.createAndSettle(nad('a/net', confOf('a/net', { subnets: '10.20.0.0/31' })));
    const entry = JSON.stringify({ 'a/net': { ip_addresses: ['10.20.0.1/31'], mac_address: '0a:58:0a:14:00:01' } });
    const annotations = { [SELECTION]: 'a/net', 'k8s.ovn.org/pod-networks': entry };
    await cluster.createAndSettle(pod('evil/p', { annotations }));
    await edit('a/net', { subnets: '10.77.0.0/24' });
    expect(await adopted('a/net')).toMatchObject({ subnets: '10.77.0.0/24' });
  });

  it('of one of several NADs of a network waits for the pods of all, whatever it is', async () => {
    await withPod();
    await cluster.createAndSettle(namespace('b'), nad('b/more', confOf('b/more')), on('b/p', 'more'));
    await cluster.deleteAndSettle('Pod', 'a/first');
    await edit('a/net', { mtu: 1290 });
    expect([await adopted('a/net'), await adopted('b/more')]).toMatchObject([{ mtu: 1300 }, { mtu: 1300 }]);
    expect(eventsOf('a/net')).toEqual([IGNORED('mtu')]);
    await cluster.stop();
    cluster.start();
    await cluster.settled();
    expect(await adopted('a/net')).toMatchObject({ mtu: 1300 });
    expect(eventsOf('b/more')).toEqual([]);
    await cluster.deleteAndSettle('Pod', 'b/p');
    expect(await adopted('a/net')).toMatchObject({ mtu: 1290 });
  });

  it('of a primary network waits for the pods of its namespace', async () => {
    const conf = { role: 'primary', subnets: '10.20.0.0/16' };
    await cluster.createAndSettle(tenant('a'), node('n1'), nad('a/net', confOf('a/net', conf)), pod('a/first'));
    await edit('a/net', { ...conf, defaultGatewayIPs: '10.20.0.9' });
    expect(await adopted('a/net')).not.toHaveProperty('defaultGatewayIPs');
    expect(eventsOf('a/net')).toEqual([IGNORED('defaultGatewayIPs')]);
  });
});

describe('an edit that pods run on with', () => {
  it.each([
    ['mtu', { mtu: 1290 }, 'pods keep the MTU that they have until they are made again'],
    [
      'excludeSubnets',
      { excludeSubnets: '10.20.0.0/28' },
      'pods keep the addresses that they have until they are made again',
    ],
    [
      'reservedSubnets',
      { reservedSubnets: '10.20.0.0/28' },
      'pods keep the addresses that they have until they are made again',
    ],
  ])('of %s is followed, and an event says what it means', async (key, fields, meaning) => {
    await withPod();
    await edit('a/net', fields);
    expect(await adopted('a/net')).toMatchObject(fields);
    await cluster.createAndSettle(on('a/second'));
    expect(await addressOf('a/first', 'a/net')).toBe('10.20.0.1/24');
    expect(await addressOf('a/second', 'a/net')).toBe(key === 'mtu' ? '10.20.0.2/24' : '10.20.0.16/24');
    expect(eventsOf('a/net')).toEqual([`NetworkEdited: network wire has another ${key} now: ${meaning}`]);
  });

  it('moves a localnet to another VLAN, unless its addresses are another one’s there', async () => {
    const lan = { topology: 'localnet', physicalNetworkName: 'dc', vlanID: 5 };
    const other = netConf('a/other', 'other', { ...BASE, ...lan, vlanID: 6 });
    await cluster.createAndSettle(
      namespace('a'),
      node('n1'),
      nad('a/other', other),
      nad('a/net', confOf('a/net', lan)),
    );
    await cluster.createAndSettle(on('a/first'));
    await edit('a/net', { ...lan, vlanID: 6 });
    expect(await adopted('a/net')).toMatchObject({ vlanID: 5 });
    expect(eventsOf('a/net').join()).toContain('would get the same addresses of 10.20.0.0/24');
    await cluster.stop();
    cluster.start();
    await cluster.settled();
    expect(await adopted('a/net')).toMatchObject({ vlanID: 5 });
    await edit('a/net', { ...lan, vlanID: 7 });
    expect(await adopted('a/net')).toMatchObject({ vlanID: 7 });
    expect(eventsOf('a/net').at(-1)).toBe(
      'NetworkEdited: network wire has another vlanID now: all of its pods are there, those that run included',
    );
  });

  it('is followed when it was made while the cluster manager was away', async () => {
    await withPod();
    await cluster.stop();
    await edit('a/net', { mtu: 1290 });
    cluster.start();
    await cluster.settled();
    expect(await adopted('a/net')).toMatchObject({ mtu: 1290 });
    expect(eventsOf('a/net').join()).toContain('NetworkEdited: network wire has another mtu now');
  });

  it('says nothing where nobody is', async () => {
    await cluster.createAndSettle(namespace('a'), node('n1'), nad('a/net', confOf('a/net')));
    await edit('a/net', { mtu: 1290 });
    expect([await adopted('a/net'), eventsOf('a/net')]).toMatchObject([{ mtu: 1290 }, []]);
  });
});

it('what cannot be read takes nothing from pods, after a restart, too', async () => {
  await withPod();
  const before = await adopted('a/net');
  await edit('a/net', { mtu: 'large' });
  await cluster.stop();
  cluster.start();
  await cluster.createAndSettle(on('a/second'));
  expect([await adopted('a/net'), await addressOf('a/second', 'a/net')]).toEqual([before, '10.20.0.2/24']);
  expect(eventsOf('a/net').join()).toContain('mtu');
});

it('the annotation is nobody else’s to write', async () => {
  await withPod();
  const before = (await cluster.get(NAD, 'a/net')) as KubeObject;
  for (const text of ['{', JSON.stringify(confOf('a/net', { subnets: '10.99.0.0/24' })), null]) {
    await cluster.patchAndSettle(NAD, 'a/net', { metadata: { annotations: { 'k8s.ovn.org/network-config': text } } });
    expect((await cluster.get(NAD, 'a/net'))?.metadata.annotations).toEqual(before.metadata.annotations);
  }
});
