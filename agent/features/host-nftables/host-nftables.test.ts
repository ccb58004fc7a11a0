import { expect, it } from 'vitest';
import { type NftItem, nftItemKey } from '../../../datapath/nftables/types.ts';
import { addTenant, emptyCluster, type Variant, workedCluster } from '../../../test/unit/golden/worked-cluster.ts';
import type { TestCluster } from '../../testing/cluster.ts';

const DUAL: Variant = { topology: 'layer3', mode: 'local', family: 'dual' };

const itemsOf = (cluster: TestCluster): Map<string, NftItem> => {
  cluster.render();
  return new Map(cluster.sinks.nftables.all().map((item) => [nftItemKey(item), item]));
};
const rulesOf = (cluster: TestCluster, chain: string): readonly string[] | undefined => {
  const item = itemsOf(cluster).get(`chain ${chain}`);
  return item?.kind === 'chain' ? item.chain.rules : undefined;
};

const TO_TUNNELS = [4, 6].map(
  (family) =>
    `meta l4proto . th dport { tcp . 7471, udp . 4789, udp . 6081 } ${family === 4 ? 'ip' : 'ip6'} daddr @udn-node-ips-v${family} drop`,
);

it('what is forwarded to pods comes from the management port', () => {
  expect(rulesOf(workedCluster(DUAL), 'mgmtport-snat')).toEqual([
    'oifname != "ovn-k8s-mp0" return',
    'meta l4proto . th dport @mgmtport-no-snat-nodeports return',
    'ip saddr 10.128.0.2 return',
    'ip daddr . meta l4proto . th dport @mgmtport-no-snat-services-v4 return',
    'ip saddr @mgmtport-no-snat-subnets-v4 return',
    'meta nfproto ipv4 snat ip to 10.128.0.2',
    'ip6 saddr fd00:10:128::2 return',
    'ip6 daddr . meta l4proto . th dport @mgmtport-no-snat-services-v6 return',
    'ip6 saddr @mgmtport-no-snat-subnets-v6 return',
    'meta nfproto ipv6 snat ip6 to fd00:10:128::2',
  ]);
});

it('in local gateway mode pods leave as the node, and services see which network they are of', () => {
  const cluster = workedCluster(DUAL);
  /** From no port at which the node is asked. */
  const asNode = (whose: string) => [
    `${whose} meta l4proto { tcp, udp, sctp } masquerade to :32768-65535`,
    `${whose} masquerade`,
  ];
  expect(rulesOf(cluster, 'ovn-kube-local-gw-masq')).toEqual([
    ...asNode('ip saddr 169.254.0.1'),
    ...asNode('ip6 saddr fd69::1'),
    'jump ovn-kube-pod-subnet-masq',
    'jump ovn-kube-udn-masq',
  ]);
  expect(rulesOf(cluster, 'ovn-kube-pod-subnet-masq')).toEqual([
    ...asNode('ip saddr 10.128.0.0/23'),
    ...asNode('ip6 saddr fd00:10:128::/64'),
  ]);
  expect(rulesOf(cluster, 'ovn-kube-udn-masq')).toEqual([
    ...asNode(
      'ip saddr != 169.254.0.0/29 ip daddr != 172.16.1.0/24 ip daddr != 169.254.0.6/31 ip saddr 169.254.0.0/17',
    ),
    ...asNode('ip6 saddr != fd69::/125 ip6 daddr != fd00:10:96::/112 ip6 daddr != fd69::6/127 ip6 saddr fd69::/112'),
  ]);
  expect(rulesOf(workedCluster({ ...DUAL, mode: 'shared' }), 'ovn-kube-local-gw-masq')).toBeUndefined();
});

it('nobody gives packets the mark of a network by itself', () => {
  expect(rulesOf(workedCluster(DUAL), 'udn-network-marks')).toEqual([
    'ip daddr 172.16.1.0/24 meta mark 0x00001001-0x00001fff drop',
    'ip6 daddr fd00:10:96::/112 meta mark 0x00001001-0x00001fff drop',
    'ip daddr 169.254.0.6/31 meta mark 0x00001001-0x00001fff drop',
    'ip6 daddr fd69::6/127 meta mark 0x00001001-0x00001fff drop',
  ]);
});

it('what host-network pods of a network send to ClusterIPs gets its mark, also when the process has closed the connection', () => {
  expect(rulesOf(workedCluster(DUAL), 'udn-host-network-pod-services')).toEqual([
    'ct direction reply return',
    'ip daddr @udn-cluster-ips-v4 jump udn-host-network-pod-marks',
    'ip6 daddr @udn-cluster-ips-v6 jump udn-host-network-pod-marks',
  ]);
  expect(rulesOf(workedCluster(DUAL), 'udn-host-network-pod-marks')).toEqual([
    ...[1, 2, 3, 4, 5, 6].map((level) => `socket cgroupv2 level ${level} vmap @udn-mark-host-network-pods`),
    'meta mark 0x00001001-0x00001fff ct mark set meta mark',
    'meta skuid >= 0 return',
    'ct mark 0x00001001-0x00001fff meta mark set ct mark',
  ]);
});

it.each(['shared', 'local'] as const)(
  'nobody begins anything with masquerade addresses by the host, %s mode',
  (mode) => {
    expect(rulesOf(workedCluster({ ...DUAL, mode }), 'udn-forward')).toEqual([
      'oifgroup { 7693422, 7693423 } drop',
      'oifname "ovn-k8s-mp0" jump udn-default-port',
      ...TO_TUNNELS,
      'ip6 hoplimit < 255 icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert, nd-redirect } drop',
      'ct state established,related accept',
      'ct status dnat accept',
      ...(mode === 'shared' ? ['iifname "ovn-k8s-mp0" drop'] : []),
      'ip daddr 169.254.0.0/17 drop',
      'ip6 daddr fd69::/112 drop',
      'oifname != "ovn-k8s-mp*" accept',
      'drop',
    ]);
  },
);

it('a network has a chain that sets its mark', () => {
  expect(rulesOf(workedCluster(DUAL), 'udn-mark-0x1001')).toEqual(['meta mark set 0x00001001']);
  expect(rulesOf(emptyCluster(DUAL), 'udn-mark-0x1000')).toEqual(['meta mark set 0x00001000']);
  const chains = [...itemsOf(emptyCluster(DUAL)).keys()].filter((key) => key.includes('udn-mark-0x'));
  expect(chains).toEqual(['chain udn-mark-0x1000']);
});

it('the addresses of other nodes are known, and the node’s own are not', () => {
  const elements = [...itemsOf(workedCluster(DUAL)).keys()].filter((key) => key.includes('remote-node-ips'));
  expect(elements.filter((key) => key.startsWith('element')).sort()).toEqual([
    'element remote-node-ips-v4 172.30.0.3',
    'element remote-node-ips-v6 fd00:30::3',
  ]);
});

it('what comes in by a management port has an address that the network has there', () => {
  expect(rulesOf(workedCluster(DUAL), 'udn-management-in')).toEqual([
    'iifgroup { 7693422, 7693423 } drop',
    'iifname != "ovn-k8s-mp*" return',
    ...TO_TUNNELS,
    'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } ip6 hoplimit 255 accept',
    'iifname . ip saddr @udn-management-sources-v4 accept',
    'iifname . ip6 saddr @udn-management-sources-v6 accept',
    'iifname "ovn-k8s-mp0" ct state related accept',
    'iifname "ovn-k8s-mp0" ct direction reply accept',
    'ct direction reply ct status dnat accept',
    'ct direction reply ct mark 0x00001001-0x00001fff accept',
    'ct direction reply iifname . ip daddr @udn-management-ips-v4 accept',
    'ct direction reply iifname . ip6 daddr @udn-management-ips-v6 accept',
    'iifname != "ovn-k8s-mp0" drop',
    'ip saddr @udn-pod-default-ips-v4 drop',
    'ip6 saddr @udn-pod-default-ips-v6 drop',
    'ip saddr 10.128.0.0/14 accept',
    'ip6 saddr fd00:10:128::/48 accept',
    'drop',
  ]);
  const sources = (variant: Variant): string[] =>
    [...itemsOf(workedCluster(variant)).keys()].filter((key) => key.startsWith('element udn-management-sources'));
  const both = [
    'element udn-management-sources-v4 "ovn-k8s-mp1" . 169.254.0.12',
    'element udn-management-sources-v6 "ovn-k8s-mp1" . fd69::c',
  ];
  expect(sources(DUAL)).toEqual(both);
  expect(sources({ ...DUAL, topology: 'layer2' })).toEqual(both);
  expect(sources({ ...DUAL, family: 'ipv6' })).toEqual(both.slice(1));
});

it('tunnels take what comes from nodes, and no process sends to them', () => {
  const cluster = workedCluster(DUAL);
  expect(rulesOf(cluster, 'udn-tunnels-in')).toEqual([
    'udp dport 6081 ip saddr != @udn-node-ips-v4 drop',
    'udp dport 6081 ip6 saddr != @udn-node-ips-v6 drop',
  ]);
  expect(rulesOf(cluster, 'udn-tunnels-out')).toEqual([
    'meta mark & 0x08000000 == 0x08000000 return',
    'meta mark 0x00001001-0x00001fff return',
    ...TO_TUNNELS.map((rule) => rule.replace(/ drop$/, ' meta skuid >= 0 drop')),
  ]);
  expect(rulesOf(cluster, 'udn-process-marks')).toEqual(
    ['ovn-k8s-mp*', 'br-ex'].map(
      (link) =>
        `oifname "${link}" meta mark != 0x00001001-0x00001fff meta skuid >= 0 meta mark set meta mark | 0x08000000`,
    ),
  );
  const elements = [...itemsOf(cluster).keys()].filter((key) => key.startsWith('element udn-node-ips'));
  expect(elements.toSorted()).toEqual([
    'element udn-node-ips-v4 172.30.0.2',
    'element udn-node-ips-v4 172.30.0.3',
    'element udn-node-ips-v6 fd00:30::2',
    'element udn-node-ips-v6 fd00:30::3',
  ]);
});

it('other networks come and go without a change to anything of a network or the node', () => {
  const cluster = workedCluster(DUAL);
  const before = itemsOf(cluster);
  for (const id of [2, 30, 400]) addTenant(cluster, `n${id}`, id, DUAL);
  const during = itemsOf(cluster);
  for (const [key, item] of before) expect(during.get(key)).toEqual(item);
  for (const id of [2, 30, 400]) cluster.facts.set('network', `n${id}`, undefined);
  expect(itemsOf(cluster)).toEqual(before);
});
