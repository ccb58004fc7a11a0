import { describe, expect, it } from 'vitest';
import { cudn, ipamClaim, nad, namespace, netConf, pod } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest();

const { annotation, addressOf, condition, entryOf, eventsAbout, statusOf } = observe(() => cluster);
const TEAM_A = { matchLabels: { team: 'a' } };
const localnet = (fields: object = {}) => ({
  topology: 'Localnet',
  localnet: { role: 'Secondary', physicalNetworkName: 'lan', ...fields },
});
/** On the network by its NAD of that name. */
const on = (...networks: readonly (string | object)[]) => ({
  annotations: {
    'k8s.v1.cni.cncf.io/networks': JSON.stringify(
      networks.map((one) => (typeof one === 'string' ? { name: one } : one)),
    ),
  },
});
const configOf = async (key: string) => {
  const spec = (await cluster.get('NetworkAttachmentDefinition', key))?.['spec'] as { config: string };
  return JSON.parse(spec.config);
};

describe('a localnet', () => {
  it('has a NAD with its physical network, VLAN and excluded subnets, and an id', async () => {
    cluster.start();
    const vlan = { mode: 'Access', access: { id: 7 } };
    const network = localnet({ subnets: ['10.40.0.0/24'], excludeSubnets: ['10.40.0.0/30'], vlan });
    await cluster.createAndSettle(namespace('a', { team: 'a' }), cudn('lan', TEAM_A, network));
    expect(await configOf('a/lan')).toEqual({
      cniVersion: '1.0.0',
      type: 'ovn-k8s-cni-overlay',
      name: 'cluster_udn_lan',
      netAttachDefName: 'a/lan',
      topology: 'localnet',
      role: 'secondary',
      // That of the default network, and what the tunnels need of the wire.
      mtu: 1500,
      subnets: '10.40.0.0/24',
      excludeSubnets: '10.40.0.0/30',
      physicalNetworkName: 'lan',
      vlanID: 7,
    });
    expect(await annotation('NetworkAttachmentDefinition', 'a/lan', 'network-id')).toBe('1');
    expect(await annotation('NetworkAttachmentDefinition', 'a/lan', 'tunnel-keys')).toBeUndefined();
    expect(await condition('ClusterUserDefinedNetwork', 'lan')).toMatchObject({ status: 'True' });
  });

  it('is refused addresses that an older one on its wire gives, until that one is gone', async () => {
    cluster.start();
    const network = localnet({ subnets: ['10.40.0.0/24'] });
    const second = localnet({ subnets: ['10.40.0.128/25'] });
    await cluster.createAndSettle(namespace('a', { team: 'a' }), cudn('lan', TEAM_A, network));
    await cluster.createAndSettle(cudn('second', TEAM_A, second));
    expect(await annotation('NetworkAttachmentDefinition', 'a/second', 'network-id')).toBeUndefined();
    const refused = await condition('ClusterUserDefinedNetwork', 'second', 'NetworkAllocationSucceeded');
    expect(refused).toMatchObject({ status: 'False' });
    expect(refused?.message).toMatch(
      /its pods and those of network cluster_udn_lan would get the same addresses of 10.40.0.128\/25 on physical network lan: /,
    );
    expect(await condition('ClusterUserDefinedNetwork', 'lan')).toMatchObject({ status: 'True' });
    await cluster.deleteAndSettle('ClusterUserDefinedNetwork', 'lan');
    expect(await annotation('NetworkAttachmentDefinition', 'a/second', 'network-id')).toBeDefined();
    expect(await condition('ClusterUserDefinedNetwork', 'second', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
  });

  it('gives each pod that selects it an address of either family, and no route, gateway or tunnel id', async () => {
    cluster.start();
    const network = localnet({ subnets: ['10.40.0.0/24', 'fd00:40::/64'], excludeSubnets: ['10.40.0.0/30'] });
    await cluster.create(namespace('a', { team: 'a' }), cudn('lan', TEAM_A, network));
    await cluster.createAndSettle(pod('a/first', on('lan')), pod('a/none'));
    await cluster.createAndSettle(pod('a/second', on('lan')));
    expect(await entryOf('a/first', 'a/lan')).toEqual({
      ip_addresses: ['10.40.0.4/24', 'fd00:40::1/64'],
      mac_address: '0a:58:0a:28:00:04',
      role: 'secondary',
    });
    expect(await addressOf('a/second', 'a/lan')).toBe('10.40.0.5/24');
    expect(await entryOf('a/none', 'a/lan')).toBeUndefined();
    expect((await cluster.get('ClusterUserDefinedNetwork', 'lan'))?.['status']).not.toHaveProperty('tunnelKeys');
  });

  it('gives what a pod asks for, once, and reports it to every other pod that asks', async () => {
    cluster.start();
    await cluster.create(namespace('a', { team: 'a' }), cudn('lan', TEAM_A, localnet({ subnets: ['10.40.0.0/24'] })));
    const wish = { name: 'lan', ips: ['10.40.0.77/24'], mac: '02:00:00:00:00:07' };
    await cluster.createAndSettle(pod('a/first', on(wish)));
    await cluster.create(pod('a/second', on({ name: 'lan', ips: ['10.40.0.77/24'] })));
    await cluster.create(pod('a/third', on({ name: 'lan', mac: '02:00:00:00:00:07' })));
    await cluster.createAndSettle(pod('a/fourth', on({ name: 'lan', ips: ['10.40.0.255/24'] })));
    expect(await entryOf('a/first', 'a/lan')).toMatchObject({
      ip_addresses: ['10.40.0.77/24'],
      mac_address: '02:00:00:00:00:07',
    });
    expect(await entryOf('a/second', 'a/lan')).toBeUndefined();
    expect(eventsAbout('second').join()).toContain('10.40.0.77 already belongs to a/first (a/lan)');
    expect(eventsAbout('third').join()).toContain('MAC 02:00:00:00:00:07 already belongs to a/first (a/lan)');
    expect(eventsAbout('fourth').join()).toContain('the broadcast address of subnet 10.40.0.0/24');
  });

  it('that is full says so, and goes on when a pod goes', async () => {
    cluster.start();
    await cluster.create(namespace('a', { team: 'a' }), cudn('lan', TEAM_A, localnet({ subnets: ['10.40.0.0/30'] })));
    await cluster.createAndSettle(pod('a/1', on('lan')), pod('a/2', on('lan')));
    await cluster.createAndSettle(pod('a/3', on('lan')));
    expect(eventsAbout('3').join()).toMatch(/10\.40\.0\.0\/30 has no free address left/);
    await cluster.deleteAndSettle('Pod', 'a/1');
    expect(await addressOf('a/3', 'a/lan')).toMatch(/^10\.40\.0\.[12]\/30$/);
  });

  it('without IPAM gives a MAC, which stays', async () => {
    cluster.start();
    await cluster.create(namespace('a', { team: 'a' }), cudn('lan', TEAM_A, localnet({ ipam: { mode: 'Disabled' } })));
    await cluster.createAndSettle(pod('a/first', on('lan')));
    const entry = await entryOf('a/first', 'a/lan');
    expect(entry).toEqual({ ip_addresses: [], mac_address: expect.stringMatching(/^0a:58:/), role: 'secondary' });
    await cluster.stop();
    cluster.start();
    await cluster.settled();
    expect(await entryOf('a/first', 'a/lan')).toEqual(entry);
  });

  it('keeps what pods and claims have over a restart, and gives it to nobody else', async () => {
    const persistent = { subnets: ['10.40.0.0/24'], ipam: { lifecycle: 'Persistent' } };
    const claim = { name: 'lan', 'ipam-claim-reference': 'c' };
    cluster.start();
    await cluster.create(namespace('a', { team: 'a' }), cudn('lan', TEAM_A, localnet(persistent)));
    await cluster.createAndSettle(ipamClaim('a/c', 'cluster_udn_lan'), pod('a/owner', on(claim)));
    await cluster.createAndSettle(pod('a/runs', on('lan')));
    await cluster.deleteAndSettle('Pod', 'a/owner');
    await cluster.stop();
    const start = cluster.observations.length;
    cluster.start();
    await cluster.settled();
    expect(cluster.observations.slice(start).filter(({ source }) => source === 'writer')).toEqual([]);
    await cluster.createAndSettle(pod('a/new', on('lan')), pod('a/next', on(claim)));
    expect(await statusOf('a/c')).toMatchObject({ ips: ['10.40.0.1/24'], ownerPod: { name: 'next' } });
    const addresses = ['runs', 'new', 'next'].map((name) => addressOf(`a/${name}`, 'a/lan'));
    expect(await Promise.all(addresses)).toEqual(['10.40.0.2/24', '10.40.0.3/24', '10.40.0.1/24']);
  });

  it('may be written by hand', async () => {
    cluster.start();
    const conf = netConf('a/hand', 'hand', {
      topology: 'localnet',
      role: undefined,
      physicalNetworkName: 'lan',
      subnets: '10.41.0.0/24',
      vlanID: 3,
    });
    await cluster.createAndSettle(namespace('a'), nad('a/hand', conf), pod('a/first', on('hand')));
    expect(await annotation('NetworkAttachmentDefinition', 'a/hand', 'network-id')).toBe('1');
    expect(await addressOf('a/first', 'a/hand')).toBe('10.41.0.1/24');
  });
});
