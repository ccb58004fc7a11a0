/** The agent of a pod's node writes to the annotation that says what the pod has: not all that it says is the pod's. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { layer2Udn, nad, namespace, netConf, node, pod, tenant, udn } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await createTestCluster();
  cluster.start();
  await cluster.createAndSettle(
    tenant('red'),
    tenant('blue'),
    node('n1'),
    layer2Udn('red/net', ['10.20.0.0/29']),
    // Of namespace default, by hand: for all.
    nad('default/shared', netConf('default/shared', 'shared', { role: 'secondary', subnets: '10.50.0.0/29' })),
    udn('red/sec', { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.30.0.0/29'] } }),
  );
});
afterEach(() => cluster.close());

const { addressOf, eventsAbout } = observe(() => cluster);

const SELECTION = 'k8s.v1.cni.cncf.io/networks';
const held = (network: string) => cluster.manager.state?.pods.sizeOf(network);
const entry = (subnet: string, number: number) => ({
  ip_addresses: [`${subnet}.${number}/29`],
  mac_address: `0a:58:00:00:00:0${number}`,
  tunnel_id: 100 + number,
});
/** Every address of a /29, by one key after the other. */
const drained = (nad: string, subnet: string) =>
  Object.fromEntries(Array.from({ length: 8 }, (_, n) => [n === 0 ? nad : `${nad}/${n}`, entry(subnet, n)]));
const say = (key: string, entries: Readonly<Record<string, unknown>> | string) =>
  cluster.patch('Pod', key, {
    metadata: {
      annotations: {
        'k8s.ovn.org/pod-networks': typeof entries === 'string' ? entries : JSON.stringify(entries),
      },
    },
  });
const restart = async () => {
  await cluster.stop();
  cluster.start();
  await cluster.settled();
};
const isThere = async (key: string) => (await cluster.get('UserDefinedNetwork', key)) !== undefined;

describe.each(['while the manager runs', 'at a start'])("another tenant's network, %s", (when) => {
  const settle = () => (when === 'at a start' ? restart() : cluster.settled());

  it.each([
    ['of the primary network', 'red/net', 'red_net', '10.20.0'],
    ['of a secondary network', 'red/sec', 'red_sec', '10.30.0'],
  ])('keeps its addresses, and can be deleted, whatever keys %s are written to a pod', async (_, nad, name, subnet) => {
    await cluster.create(pod('blue/x'));
    await say('blue/x', drained(nad, subnet));
    await settle();
    expect(held(name)).toBe(0);
    expect(eventsAbout('x').join()).toContain(
      `annotation k8s.ovn.org/pod-networks of Pod blue/x: ${nad}, ${nad}/1, ${nad}/2, ${nad}/3, ${nad}/4 and 3 more are not attachments of this pod: ignored`,
    );
    await cluster.deleteAndSettle('UserDefinedNetwork', nad);
    expect(await isThere(nad)).toBe(false);
  });

  it.each([
    ['for all', 'default/shared', 'shared', '10.50.0', 1],
    ['for its namespace', 'red/sec', 'red_sec', '10.30.0', 0],
  ])(
    'that is %s is held by what the pod has selected, and by no more attachments',
    async (_, key, name, subnet, size) => {
      await cluster.createAndSettle(pod('blue/x', { annotations: { [SELECTION]: key } }));
      await say('blue/x', { [`${key}/1`]: entry(subnet, 5) });
      await settle();
      expect(held(name)).toBe(size);
      expect(eventsAbout('x').join()).toContain(`${key}/1 are not attachments of this pod: ignored`);
    },
  );

  it('is not held by a pod that selects it, whatever its annotation has', async () => {
    await cluster.create(pod('blue/x', { annotations: { [SELECTION]: 'red/sec' } }));
    await say('blue/x', { 'red/sec': entry('10.30.0', 5) });
    await settle();
    await cluster.deleteAndSettle('UserDefinedNetwork', 'red/sec');
    expect(await isThere('red/sec')).toBe(false);
  });

  it('is not held by a pod that selects it as if it were secondary', async () => {
    await cluster.create(pod('blue/x', { annotations: { [SELECTION]: 'red/net' } }));
    await say('blue/x', { 'red/net': entry('10.20.0', 5) });
    await settle();
    expect(held('red_net')).toBe(0);
    await cluster.deleteAndSettle('UserDefinedNetwork', 'red/net');
    expect(await isThere('red/net')).toBe(false);
  });
});

describe('a pod', () => {
  it('keeps at a start what it has of its own namespace, once of the primary network', async () => {
    await cluster.createAndSettle(pod('red/x', { annotations: { [SELECTION]: 'sec' } }));
    await cluster.stop();
    await cluster.patch('Pod', 'red/x', { metadata: { annotations: { [SELECTION]: null } } });
    await say('red/x', { 'red/sec': entry('10.30.0', 1), ...drained('red/net', '10.20.0') });
    cluster.start();
    await cluster.settled();
    expect([held('red_sec'), held('red_net')]).toEqual([1, 1]);
  });

  it('keeps at a start what it has of another namespace when its selection cannot be read any more', async () => {
    await cluster.createAndSettle(pod('blue/x', { annotations: { [SELECTION]: 'default/shared' } }));
    await cluster.stop();
    await cluster.patch('Pod', 'blue/x', { metadata: { annotations: { [SELECTION]: '[{' } } });
    cluster.start();
    await cluster.settled();
    await cluster.createAndSettle(pod('red/y', { annotations: { [SELECTION]: 'default/shared' } }));
    expect(await addressOf('blue/x', 'default/shared')).toBe('10.50.0.1/29');
    expect(await addressOf('red/y', 'default/shared')).toBe('10.50.0.2/29');
  });

  it('has one address of a family by one key', async () => {
    await cluster.createAndSettle(pod('red/x'));
    await cluster.stop();
    const all = Array.from({ length: 4 }, (_, n) => `10.20.0.${n + 3}/29`);
    await say('red/x', { 'red/net': { ip_addresses: all, mac_address: '0a:58:0a:14:00:03', tunnel_id: 10 } });
    cluster.start();
    await cluster.settled();
    await cluster.createAndSettle(pod('red/y'));
    expect(await addressOf('red/y', 'red/net')).toBe('10.20.0.4/29');
    expect(eventsAbout('x').join()).toContain('it has 4 addresses, 3 more than one of each family');
  });

  it.each([
    ['selects the network', 'red/sec'],
    ['selects something else', 'blue/other'],
  ])('whose annotation is unreadable does not hold the network of another namespace: it %s', async (_, selection) => {
    await cluster.createAndSettle(namespace('evil'), pod('evil/x', { annotations: { [SELECTION]: selection } }));
    await say('evil/x', '{garbage');
    await cluster.settled();
    await cluster.deleteAndSettle('UserDefinedNetwork', 'red/sec');
    expect(await isThere('red/sec')).toBe(false);
  });
});
