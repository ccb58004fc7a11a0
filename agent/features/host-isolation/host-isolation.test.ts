import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { parsePort } from '../../../net/ids.ts';
import { LOCAL } from '../../model/facts.ts';
import { TestCluster } from '../../testing/cluster.ts';

const UID = '992d3b9e-3f85-42e2-9558-9d4273d4236f';
const LOCKED = { default: { ips: ['10.1.1.3/24', 'fd00:1::3/64'], role: 'infrastructure-locked' } } as const;

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.1.1.0/24'], red: ['10.20.1.0/24'] } })
    .namespace('red-ns', true)
    .network('red', { id: 7, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red-ns', nad: 'net' });

const items = (it: TestCluster): NftItem[] => {
  it.render();
  return it.sinks.nftables.all();
};
const rules = (it: TestCluster, name: string): readonly string[] =>
  items(it).flatMap((item) => (item.kind === 'chain' && item.chain.name === name ? item.chain.rules : []));
const elements = (it: TestCluster): string[] =>
  items(it)
    .flatMap(({ kind, ...item }) => (kind === 'element' && 'element' in item ? [item.element] : []))
    .filter(
      ({ set }) =>
        set.startsWith('udn-') && !/^udn-(mark-(nodeports|external)|node-ips|management-(sources|ips))/.test(set),
    )
    .map(({ set, key, value, comment }) => `${set} ${key}${value === undefined ? '' : ` : ${value}`} # ${comment}`)
    .sort();

it('lets only the kubelet, and whoever knocks at an open port, to the default-network addresses of pods', () => {
  const it = cluster();
  it.facts.set('kubeletCgroup', LOCAL, { path: 'kubelet.slice/kubelet.service', level: 2, id: '4711' });
  expect(rules(it, 'udn-isolation')).toEqual([
    'oifgroup { 7693422, 7693423 } drop',
    'ip daddr . meta l4proto . th dport @udn-open-ports-v4 accept',
    'meta l4proto icmp ip daddr @udn-open-ports-icmp-v4 accept',
    'ip6 daddr . meta l4proto . th dport @udn-open-ports-v6 accept',
    'meta l4proto ipv6-icmp ip6 daddr @udn-open-ports-icmp-v6 accept',
    'ip daddr @udn-pod-default-ips-v4 jump udn-isolation-kubelet',
    'ip daddr @udn-pod-default-ips-v4 meta skuid >= 0 drop',
    'ip daddr @udn-pod-default-ips-v4 ct state established,related accept',
    'ip daddr @udn-pod-default-ips-v4 drop',
    'ip6 daddr @udn-pod-default-ips-v6 jump udn-isolation-kubelet',
    'ip6 daddr @udn-pod-default-ips-v6 meta skuid >= 0 drop',
    'ip6 daddr @udn-pod-default-ips-v6 ct state established,related accept',
    'ip6 daddr @udn-pod-default-ips-v6 drop',
    'oifname "ovn-k8s-mp0" jump udn-default-port',
  ]);
  expect(rules(it, 'udn-isolation-kubelet')).toEqual([
    'socket cgroupv2 level 2 "kubelet.slice/kubelet.service" accept comment "cgroup 4711"',
  ]);
});

it('lets into the default network by its management port only to who is known there, from anywhere', () => {
  const settings = { clusterSubnets: '10.1.0.0/16/24,fd00:1::/48/64', serviceSubnets: '10.96.0.0/16,fd00:10:96::/112' };
  const it = new TestCluster('node1', settings)
    .node('node1', { id: 2, subnets: { default: ['10.1.1.0/24', 'fd00:1:0:1::/64'] } })
    .gateway('node1', { addresses: ['172.30.0.2/24'] });
  expect(rules(it, 'udn-forward').slice(0, 2)).toEqual([
    'oifgroup { 7693422, 7693423 } drop',
    'oifname "ovn-k8s-mp0" jump udn-default-port',
  ]);
  expect(rules(it, 'udn-default-port')).toEqual([
    'ip daddr . meta l4proto . th dport @udn-open-ports-v4 return',
    'meta l4proto icmp ip daddr @udn-open-ports-icmp-v4 return',
    'ip6 daddr . meta l4proto . th dport @udn-open-ports-v6 return',
    'meta l4proto ipv6-icmp ip6 daddr @udn-open-ports-icmp-v6 return',
    'ip daddr @udn-pod-default-ips-v4 drop',
    'ip daddr @udn-default-pods-v4 return',
    'ip6 daddr @udn-pod-default-ips-v6 drop',
    'ip6 daddr @udn-default-pods-v6 return',
    'ip daddr 10.1.1.1 return',
    'ip daddr != 10.1.1.0/24 ip daddr 10.1.0.0/16 return',
    'ip6 daddr fd00:1:0:1::1 return',
    'ip6 daddr != fd00:1:0:1::/64 ip6 daddr fd00:1::/48 return',
    'ip daddr 10.96.0.0/16 meta mark 0x001745ec return',
    'ip6 daddr fd00:10:96::/112 meta mark 0x001745ec return',
    'ip daddr 169.254.0.3 ct status dnat return',
    'ip6 daddr fd69::3 ct status dnat return',
    'meta skuid >= 0 drop',
    'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } return',
    'drop',
  ]);
  expect(rules(new TestCluster('node1'), 'udn-default-port').at(-1)).toBe('drop');
});

it('lets nobody there while there is no kubelet, and says so', () => {
  const it = cluster();
  it.facts.set('kubeletCgroup', LOCAL, undefined);
  expect(items(it)).toContainEqual({ kind: 'chain', chain: { name: 'udn-isolation-kubelet', rules: [] } });
  expect(rules(it, 'udn-isolation')).toContain('ip daddr @udn-pod-default-ips-v4 drop');
  expect(it.render().diagnostics).toContainEqual(
    expect.objectContaining({ object: 'Node/node1', severity: 'warning', message: expect.stringContaining('kubelet') }),
  );
});

it('keeps the rule of a kubelet that has left its cgroup, and says so', () => {
  const it = cluster();
  const path = 'kubelet.slice/kubelet.service';
  it.facts.set('kubeletCgroup', LOCAL, { path, level: 2, id: '4711' });
  const before = rules(it, 'udn-isolation-kubelet');
  it.facts.set('kubeletCgroup', LOCAL, { path, level: 2, id: '4711', isEmpty: true });
  expect(rules(it, 'udn-isolation-kubelet')).toEqual(before);
  expect(it.render().diagnostics).toContainEqual({
    ...{ object: 'Node/node1', severity: 'warning', cause: 'kubelet-cgroup-missing' },
    message: `no process is in the cgroup of the kubelet, ${path}: it has stopped, or runs in another one: its probes do not reach pods of primary networks`,
  });
  it.facts.set('kubeletCgroup', LOCAL, { path, level: 2, id: '4711' });
  expect(it.render().diagnostics).toEqual([]);
});

it('wants another rule when the kubelet’s cgroup was recreated', () => {
  const it = cluster();
  const withId = (id: string): readonly string[] => {
    it.facts.set('kubeletCgroup', LOCAL, { path: 'kubelet.slice/kubelet.service', level: 2, id });
    return rules(it, 'udn-isolation-kubelet');
  };
  expect(withId('1')).not.toEqual(withId('2'));
});

describe('of pods with a primary network', () => {
  it('has the addresses and open ports of those of this node', () => {
    const it = cluster()
      .pod('red-ns/a', {
        node: 'node1',
        networks: LOCKED,
        openPorts: [{ protocol: 'tcp', port: parsePort(80) }, { protocol: 'icmp' }],
      })
      .pod('red-ns/elsewhere', { node: 'node2', networks: LOCKED })
      .pod('red-ns/done', { node: 'node1', networks: LOCKED, finished: true })
      .pod('ns/default', { node: 'node1', networks: { default: { ips: ['10.1.1.9/24'], role: 'primary' } } });
    expect(elements(it)).toEqual([
      'udn-default-pods-v4 10.1.1.9 # ns/default',
      'udn-open-ports-icmp-v4 10.1.1.3 # red-ns/a',
      'udn-open-ports-icmp-v6 fd00:1::3 # red-ns/a',
      'udn-open-ports-v4 10.1.1.3 . tcp . 80 # red-ns/a',
      'udn-open-ports-v6 fd00:1::3 . tcp . 80 # red-ns/a',
      'udn-pod-default-ips-v4 10.1.1.3 # red-ns/a',
      'udn-pod-default-ips-v6 fd00:1::3 # red-ns/a',
    ]);
  });

  it('opens nothing where the annotation cannot be read, and reports it to the pod', () => {
    const it = cluster().pod('red-ns/a', {
      node: 'node1',
      networks: LOCKED,
      openPorts: [],
      unreadableOpenPorts: '0.port: is required',
    });
    expect(elements(it).filter((text) => text.includes('open-ports'))).toEqual([]);
    expect(elements(it)).toContain('udn-pod-default-ips-v4 10.1.1.3 # red-ns/a');
    expect(it.render().diagnostics).toContainEqual({
      object: 'Pod/red-ns/a',
      severity: 'warning',
      cause: 'object-unreadable',
      message: '0.port: is required',
      event: 'ErrorUpdatingResource',
    });
  });
});

describe('of host-network pods', () => {
  const withPod = (namespace: string): TestCluster => {
    const it = cluster().pod(`${namespace}/host`, { node: 'node1', uid: UID, hostNetwork: true, networks: {} });
    it.facts.set('podCgroup', UID, { path: `kubepods/besteffort/pod${UID}`, level: 3, id: '12' });
    return it;
  };

  it('lets those of a network’s namespace to its management port and its Services', () => {
    expect(elements(withPod('red-ns'))).toEqual([
      `udn-host-network-pods "kubepods/besteffort/pod${UID}" . "ovn-k8s-mp7" # red-ns/host cgroup 12`,
      `udn-mark-host-network-pods "kubepods/besteffort/pod${UID}" : jump udn-mark-0x1007 # red-ns/host cgroup 12`,
    ]);
  });

  it('lets no others there', () => {
    const it = withPod('other').namespace('other');
    expect(elements(it)).toEqual([]);
    expect(elements(withPod('red-ns').namespace('red-ns', false))).toEqual([]);
  });

  it('drops all else, from the moment that the link is there', () => {
    expect(rules(cluster(), 'udn-management-isolation')).toEqual([
      'oifname != "ovn-k8s-mp*" return',
      'oifname "ovn-k8s-mp0" return',
      'jump udn-management-isolation-pods',
      'ct direction reply accept',
      'meta skuid >= 0 drop',
      'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } return',
      'ct state established,related accept',
      'drop',
    ]);
    expect(rules(cluster(), 'udn-management-isolation-pods')).toEqual(
      [1, 2, 3, 4, 5, 6].map((level) => `socket cgroupv2 level ${level} . oifname @udn-host-network-pods accept`),
    );
  });
});

it('keeps what may be refused, by a cgroup, out of the chains with the drops', () => {
  const it = cluster();
  it.facts.set('kubeletCgroup', LOCAL, { path: 'kubelet.slice/kubelet.service', level: 2, id: '1' });
  const chains = items(it).flatMap((item) => (item.kind === 'chain' ? [item.chain] : []));
  const byCgroup = chains.filter((one) => one.rules.some((rule) => rule.includes('socket cgroupv2')));
  expect(byCgroup.map(({ name, hook }) => [name, hook]).sort()).toEqual([
    ['udn-host-network-pod-marks', undefined],
    ['udn-isolation-kubelet', undefined],
    ['udn-management-isolation-pods', undefined],
  ]);
  expect(byCgroup.flatMap((one) => one.rules).filter((rule) => rule.includes('drop'))).toEqual([]);
});

it('never opens a port of a pod without dropping everything else to it', () => {
  const pod = fc.record({
    last: fc.integer({ min: 3, max: 9 }),
    locked: fc.boolean(),
    local: fc.boolean(),
    finished: fc.boolean(),
    ports: fc.uniqueArray(fc.integer({ min: 1, max: 65_535 }), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.uniqueArray(pod, { selector: ({ last }) => last, maxLength: 6 }), (pods) => {
      const it = cluster();
      for (const { last, locked, local, finished, ports } of pods) {
        it.pod(`red-ns/p${last}`, {
          node: local ? 'node1' : 'node2',
          finished,
          networks: { default: { ips: [`10.1.1.${last}/24`], role: locked ? 'infrastructure-locked' : 'primary' } },
          openPorts: ports.map((port) => ({ protocol: 'tcp', port: parsePort(port) })),
        });
      }
      const isolated = pods.filter((one) => one.locked && one.local && !one.finished);
      const found = elements(it);
      expect(found.filter((text) => text.startsWith('udn-pod-default-ips-v4'))).toHaveLength(isolated.length);
      expect(found.filter((text) => text.startsWith('udn-open-ports-v4'))).toHaveLength(
        isolated.reduce((sum, { ports }) => sum + ports.length, 0),
      );
    }),
    { numRuns: 30 },
  );
});
