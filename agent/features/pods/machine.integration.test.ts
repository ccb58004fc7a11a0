/** Ports of virtual machines as a real ovn-northd reads them, and what ovn-trace(8) makes of what machines ask. */
import { expect, it } from 'vitest';
import { TestCluster } from '../../testing/cluster.ts';
import { programZone } from '../../testing/programmed-zone.ts';

const IPS = ['10.7.1.3/24', 'fd00:7:1::3/64'];
const MAC = '0a:58:0a:07:01:03';

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'] } })
    .namespace('kube-system')
    .service('kube-system/kube-dns', { ips: ['172.16.1.10', '172.16.1.11'], ports: ['dns:UDP/53'] })
    .network('blue', {
      ...{ id: 7, topology: 'layer2', namespace: 'blue', nad: 'net', tunnelKeys: [16_711_699, 16_711_700] },
      subnets: ['10.7.1.0/24', 'fd00:7:1::/64'],
    })
    .pod('blue/a', {
      ...{ node: 'node1', machine: 'vm.1' },
      networks: { 'blue/net': { ips: IPS, role: 'primary', tunnelId: 3 } },
    })
    .pod('blue/b', {
      ...{ node: 'node1', machine: 'vm.1', standby: new Map([['blue/net', 'blue/a']]) },
      networks: { 'blue/net': { ips: IPS, role: 'primary', tunnelId: 4 } },
    });

const asked = (port: string, rest: string): string =>
  [`inport == "blue.net_blue_${port}"`, `eth.src == ${MAC}`, 'ip.ttl == 64', rest].join(' && ');
const DISCOVER =
  'eth.dst == ff:ff:ff:ff:ff:ff && ip4.src == 0.0.0.0 && ip4.dst == 255.255.255.255 && udp.src == 68 && udp.dst == 67';
const SOLICIT =
  'eth.dst == 33:33:00:01:00:02 && ip6.src == fe80::858:aff:fe07:103 && ip6.dst == ff02::1:2 && udp.src == 546 && udp.dst == 547';

it('ovn-northd answers the port that has the machine, and no closed one', async () => {
  const it = cluster();
  await using programmed = await programZone(it);
  const { zone, database } = programmed;
  const trace = async (port: string, rest: string): Promise<string> =>
    (await zone.trace('blue_ovn_layer2_switch', asked(port, rest))).join('\n');
  const four = await trace('a', DISCOVER);
  expect(four).toContain('put_dhcp_opts(offerip = 10.7.1.3');
  expect(four).toContain('hostname = "vm.1"');
  expect(four).toContain('dns_server = {172.16.1.10, 172.16.1.11}');
  expect(await trace('a', SOLICIT)).toContain(
    'put_dhcpv6_opts(ia_addr = fd00:7:1::3, fqdn = "vm.1", server_id = 0a:58:6d:6d:c1:50)',
  );
  const limited = ['dhcpv4-opts-rate-limiter', 'dhcpv6-opts-rate-limiter', 'nd-ra-opts-rate-limiter'];
  expect(await zone.meters()).toEqual(expect.arrayContaining(limited));
  for (const rest of [DISCOVER, SOLICIT]) expect(await trace('b', rest)).not.toMatch(/put_dhcp|output/);
  const owned = () =>
    (['DHCP_Options', 'Port_Group', 'ACL'] as const).map((table) => {
      const owners = [...database.replica.rows(table)].map((row) => row.external_ids['k8s.ovn.org/owner-type']);
      return owners.filter((owner) => owner === 'VirtualMachine').length;
    });
  expect(owned()).toEqual([2, 1, 2]);
  for (const pod of ['blue/a', 'blue/b']) it.facts.set('pod', pod, undefined);
  await programmed.reconcile();
  expect(owned()).toEqual([0, 0, 0]);
});
