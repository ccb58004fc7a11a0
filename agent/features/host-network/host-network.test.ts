import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostItemKey } from '../../../datapath/host/types.ts';
import { parseNetworkId } from '../../../net/ids.ts';
import { addTenant, emptyCluster, type Variant, workedCluster } from '../../../test/unit/golden/worked-cluster.ts';
import { managementLinkName, patchPortName, vrfName } from '../../model/host-names.ts';

const DUAL: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };

describe('names of links', () => {
  const nameOf = (network: string, gateway?: Parameters<typeof vrfName>[2]) =>
    vrfName(network, parseNetworkId(3), gateway);

  it('a VRF is called as its ClusterUserDefinedNetwork where a link can be', () => {
    expect(nameOf('cluster_udn_blue')).toBe('blue');
    expect(nameOf('cluster_udn_exactly15chars-')).toBe('exactly15chars-');
    expect(nameOf('cluster_udn_longer-than-15-c')).toBe('mp3-udn-vrf');
    expect(nameOf('red_blue')).toBe('mp3-udn-vrf');
  });

  it.each(['default', 'lo', 'all', 'br-int', 'br-ex', 'ovn-k8s-mp7', 'mp7-udn-vrf', 'ovs-system', 'eth0', 'ens3'])(
    'no VRF is called %s',
    (taken) => expect(nameOf(`cluster_udn_${taken}`)).toBe('mp3-udn-vrf'),
  );

  it('nor as the gateway bridge or its uplink', () => {
    const gateway = { bridge: 'outside', uplink: 'card' };
    expect(nameOf('cluster_udn_outside', gateway)).toBe('mp3-udn-vrf');
    expect(nameOf('cluster_udn_card', gateway)).toBe('mp3-udn-vrf');
    expect(nameOf('cluster_udn_inside', gateway)).toBe('inside');
  });

  it('all fit into the kernel’s 15 characters', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 4095 }), (name, number) => {
        const id = parseNetworkId(number);
        expect(vrfName(`cluster_udn_${name}`, id).length).toBeLessThanOrEqual(15);
        expect(managementLinkName(id).length).toBeLessThanOrEqual(15);
      }),
    );
  });

  it('patch ports are called as ovn-controller calls them', () => {
    const gateway = emptyCluster(DUAL).facts.get('gateway', 'node1');
    expect(gateway && patchPortName(gateway, 'default', 'node1')).toBe('patch-br-ex_node1-to-br-int');
    expect(gateway && patchPortName(gateway, 'a-b/c_net', 'node1')).toBe('patch-br-ex_a.b.c_net_node1-to-br-int');
  });
});

describe('the host’s port on a network', () => {
  const rows = (variant: Variant) => workedCluster(variant).render().openvswitch;

  it('is an internal port of br-int, bound by its iface-id', () => {
    expect(rows(DUAL)['Interface']).toEqual([
      expect.objectContaining({
        name: 'ovn-k8s-mp0',
        type: 'internal',
        mac: '0a:58:0a:80:00:02',
        mtu_request: 1400,
        external_ids: { 'iface-id': 'k8s-node1', 'ovn-udn/key': 'Interface/ovn-k8s-mp0' },
      }),
      expect.objectContaining({
        name: 'ovn-k8s-mp1',
        mac: '0a:58:0a:c8:01:02',
        external_ids: {
          'iface-id': 'k8s-blue_node1',
          'k8s.ovn.org/network': 'blue',
          'ovn-udn/key': 'Interface/ovn-k8s-mp1',
        },
      }),
    ]);
    expect(rows(DUAL)['Bridge']).toEqual([{ ports: ['Port/ovn-k8s-mp0', 'Port/ovn-k8s-mp1'] }]);
  });

  it('has an address in the node’s part on layer 3, and the same on every node on layer 2', () => {
    const addresses = (variant: Variant) =>
      workedCluster(variant)
        .render()
        .addresses.filter(({ link }) => link === 'ovn-k8s-mp1')
        .map(({ address }) => address);
    expect(addresses(DUAL)).toEqual(['10.200.1.2/24', 'fd00:200:0:1::2/64']);
    expect(addresses({ ...DUAL, topology: 'layer2' })).toEqual(['10.200.0.2/16', 'fd00:200::2/64']);
    const items = workedCluster({ ...DUAL, topology: 'layer2' });
    items.render();
    const ipv6 = items.sinks.host
      .all()
      .flatMap((item) => (item.kind === 'address' && item.address.address.includes(':') ? [item.address] : []));
    expect(ipv6.every(({ noDad }) => noDad === true)).toBe(true);
  });

  it('believes nothing that pods say about routes', () => {
    expect(workedCluster(DUAL).render().sysctls).toMatchObject({
      'net.ipv4.conf.ovn-k8s-mp1.forwarding': '1',
      'net.ipv4.conf.ovn-k8s-mp1.rp_filter': '2',
      'net.ipv4.conf.ovn-k8s-mp1.accept_redirects': '0',
      'net.ipv6.conf.ovn-k8s-mp1.accept_ra': '0',
      'net.ipv6.conf.ovn-k8s-mp1.accept_redirects': '0',
    });
  });
});

it('a VRF ends in unreachable routes of the families of its network', () => {
  const ends = (variant: Variant) =>
    workedCluster(variant)
      .render()
      .routes.filter(({ type }) => type === 'unreachable')
      .map(({ table, dst, metric }) => [table, dst, metric]);
  expect(ends(DUAL)).toEqual([
    [100_001, 'default4', 4_278_198_272],
    [100_001, 'default6', 4_278_198_272],
  ]);
  expect(ends({ ...DUAL, family: 'ipv6' })).toEqual([[100_001, 'default6', 4_278_198_272]]);
});

it('only the first next hop of a family is used: a table has one default route', () => {
  const cluster = workedCluster(DUAL).gateway('node1', {
    addresses: ['172.30.0.2/24'],
    nextHops: ['172.30.0.1', '172.30.0.9'],
  });
  const defaults = cluster.render().routes.filter(({ dst, type }) => dst === 'default4' && type === 'unicast');
  expect(defaults.map(({ via }) => via)).toEqual(['172.30.0.1']);
});

it('other networks come and go without a change to anything of a network or the host', () => {
  const cluster = workedCluster(DUAL);
  const keyed = () => {
    cluster.render();
    return new Map(cluster.sinks.host.all().map((item) => [hostItemKey(item), item]));
  };
  const before = keyed();
  for (const id of [2, 30, 400]) addTenant(cluster, `n${id}`, id, DUAL);
  const during = keyed();
  expect(during.size).toBe(before.size + 3 * (before.size - workedItems()));
  for (const [key, item] of before) expect(during.get(key)).toEqual(item);
  for (const id of [2, 30, 400]) cluster.facts.set('network', `n${id}`, undefined);
  expect(keyed()).toEqual(before);
});

const workedItems = (): number => {
  const cluster = emptyCluster(DUAL);
  cluster.render();
  return cluster.sinks.host.all().length;
};
