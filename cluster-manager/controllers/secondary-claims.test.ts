/** IPAMClaims of attachments to secondary networks: what virtual machines keep when they move, stop and start. */
import { describe, expect, it } from 'vitest';
import { cudn, ipamClaim, namespace, pod, udn } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest();
const { entryOf, eventsAbout, readyOf, statusOf } = observe(() => cluster);

const PERSISTENT = { role: 'Secondary', subnets: ['10.40.0.0/24', 'fd40::/64'], ipam: { lifecycle: 'Persistent' } };
const layer2 = (lifecycle: object = PERSISTENT) => udn('a/net', { topology: 'Layer2', layer2: lifecycle });
const localnet = () =>
  cudn(
    'net',
    { matchLabels: { team: 'x' } },
    { topology: 'Localnet', localnet: { ...PERSISTENT, physicalNetworkName: 'lan' } },
  );
const TOPOLOGIES = [
  ['layer 2', layer2, 'a_net', true],
  ['a localnet', localnet, 'cluster_udn_net', false],
] as const;

/** One element per claim. */
const claiming = (...claims: readonly string[]) => ({
  'k8s.v1.cni.cncf.io/networks': JSON.stringify(
    claims.map((claim) => ({ name: 'net', 'ipam-claim-reference': claim })),
  ),
});
const machine = (key: string, ...claims: readonly string[]) =>
  pod(key, { labels: { 'vm.kubevirt.io/name': 'vm' }, annotations: claiming(...claims) });

describe.each(TOPOLOGIES)('on a secondary network of %s', (_topology, network, name, hasKeys) => {
  const start = async (): Promise<void> => {
    cluster.start();
    await cluster.createAndSettle(namespace('a', { team: 'x' }), network());
    await cluster.createAndSettle(ipamClaim('a/one', name), ipamClaim('a/two', name));
  };

  it('each attachment of a machine has the addresses of its claim, in both pods while it moves, and after', async () => {
    await start();
    await cluster.createAndSettle(machine('a/from', 'one', 'two'));
    const before = await Promise.all(['a/net', 'a/net/1'].map((key) => entryOf('a/from', key)));
    expect(before.map(({ ip_addresses }) => ip_addresses)).toEqual([
      ['10.40.0.1/24', 'fd40::1/64'],
      ['10.40.0.2/24', 'fd40::2/64'],
    ]);
    expect((await statusOf('a/two'))?.ips).toEqual(['10.40.0.2/24', 'fd40::2/64']);
    await cluster.createAndSettle(machine('a/to', 'one', 'two'));
    const after = await Promise.all(['a/net', 'a/net/1'].map((key) => entryOf('a/to', key)));
    for (const [index, entry] of after.entries()) {
      const { ip_addresses, mac_address, tunnel_id } = before[index];
      expect(entry).toMatchObject({ ip_addresses, mac_address });
      // Two ports that run at once are two ports of the switch.
      if (hasKeys) expect(entry.tunnel_id).not.toBe(tunnel_id);
      else expect(entry.tunnel_id).toBeUndefined();
    }
    expect(await statusOf('a/one')).toMatchObject({ ownerPod: { name: 'to' } });
    await cluster.deleteAndSettle('Pod', 'a/from');
    await cluster.createAndSettle(pod('a/other', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'net' } }));
    expect((await entryOf('a/other', 'a/net')).ip_addresses).toEqual(['10.40.0.3/24', 'fd40::3/64']);
  });

  it('a machine that stops has them when it starts again, also after a restart of the manager', async () => {
    await start();
    await cluster.createAndSettle(machine('a/first', 'one'));
    await cluster.deleteAndSettle('Pod', 'a/first');
    await cluster.stop();
    cluster.start();
    await cluster.settled();
    await cluster.createAndSettle(pod('a/other', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'net' } }));
    await cluster.createAndSettle(machine('a/second', 'one'));
    expect((await entryOf('a/second', 'a/net')).ip_addresses).toEqual(['10.40.0.1/24', 'fd40::1/64']);
    expect((await entryOf('a/other', 'a/net')).ip_addresses).toEqual(['10.40.0.2/24', 'fd40::2/64']);
  });

  it('a claim that another machine has is refused until that one is gone', async () => {
    await start();
    await cluster.createAndSettle(machine('a/first', 'one'));
    await cluster.createAndSettle(
      pod('a/rival', { labels: { 'vm.kubevirt.io/name': 'rival' }, annotations: claiming('one') }),
    );
    expect(await entryOf('a/rival', 'a/net')).toBeUndefined();
    expect(eventsAbout('rival')).toEqual([
      `ErrorAllocatingPod: network ${name}: IPAMClaim a/one is in use by pod a/first`,
    ]);
    expect(await readyOf('a/one')).toMatch(/^True/);
    await cluster.deleteAndSettle('Pod', 'a/first');
    expect((await entryOf('a/rival', 'a/net')).ip_addresses).toEqual(['10.40.0.1/24', 'fd40::1/64']);
  });
});

it('a network without persistent addresses refuses a claim', async () => {
  cluster.start();
  const ephemeral = { role: 'Secondary', subnets: ['10.40.0.0/24'] };
  await cluster.createAndSettle(namespace('a'), layer2(ephemeral), ipamClaim('a/one', 'a_net'));
  await cluster.createAndSettle(machine('a/p', 'one'));
  expect(await entryOf('a/p', 'a/net')).toBeUndefined();
  expect(eventsAbout('p')).toEqual([
    'ErrorAllocatingPod: network a_net does not allow persistent IPs, which IPAMClaim one is for',
  ]);
});

it('layer 3 has none to keep', async () => {
  cluster.start();
  const layer3 = { role: 'Secondary', subnets: [{ cidr: '10.41.0.0/16' }] };
  await cluster.createAndSettle(
    namespace('a'),
    udn('a/net', { topology: 'Layer3', layer3 }),
    ipamClaim('a/one', 'a_net'),
  );
  await cluster.createAndSettle(machine('a/p', 'one'));
  expect(eventsAbout('p')).toEqual([
    'ErrorAllocatingPod: network a_net does not allow persistent IPs, which IPAMClaim one is for',
  ]);
});
