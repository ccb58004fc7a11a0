import { describe, expect, it } from 'vitest';
import { parseDomainName } from '../../../net/domain-name.ts';
import { parseIp } from '../../../net/ip.ts';
import { domainSetId, domainSetName } from '../../model/policies/ids.ts';
import { TestCluster } from '../../testing/cluster.ts';

const NAME = parseDomainName('www.example.com');

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], blue: ['192.168.1.0/24'] } })
    .network('blue', { id: 2, topology: 'layer3', subnets: ['192.168.0.0/16'], namespace: 'blue', nad: 'net' });

const setsOf = (it: TestCluster): Record<string, unknown> =>
  Object.fromEntries(
    (it.render().northbound['Address_Set'] ?? []).map(({ name, addresses }) => [name, addresses ?? []]),
  );

describe('domain names as address sets', () => {
  it('have what the resolver has found, by network and family, but no address of the network itself', () => {
    const it = cluster();
    const [blue, other] = ['blue', 'default'].map((network) => domainSetId({ network, name: NAME })) as [
      string,
      string,
    ];
    it.facts.set('domainSet', blue, { network: 'blue', name: NAME });
    it.facts.set('domainSet', other, { network: 'default', name: NAME });
    const before = setsOf(it);
    expect(before[domainSetName(blue, 4)]).toEqual([]);
    expect(before[domainSetName(blue, 6)]).toEqual([]);
    it.facts.set('domainAddresses', NAME, ['192.0.2.1', '192.168.7.7', '2001:db8::1'].map(parseIp));
    const after = setsOf(it);
    expect(after[domainSetName(blue, 4)]).toEqual(['192.0.2.1']);
    expect(after[domainSetName(other, 4)]).toEqual(['192.0.2.1', '192.168.7.7']);
    expect(after[domainSetName(blue, 6)]).toEqual(['2001:db8::1']);
  });

  it('name whose they are, so that the next agent finds them', () => {
    const it = cluster();
    const set = domainSetId({ network: 'blue', name: NAME });
    it.facts.set('domainSet', set, { network: 'blue', name: NAME });
    expect(it.render().northbound['Address_Set']?.map(({ external_ids: ids }) => ids)).toContainEqual({
      'ovn-udn/key': `Address_Set/${domainSetName(set, 4)}`,
      'k8s.ovn.org/owner-controller': 'blue-network-controller',
      'k8s.ovn.org/owner-type': 'DomainName',
      'k8s.ovn.org/name': NAME,
      'ip-family': '4',
      'k8s.ovn.org/id': `blue-network-controller:DomainName:${NAME}:4`,
    });
  });

  it('are others for firewalls, with ids of their own', () => {
    const it = cluster();
    for (const isForFirewalls of [false, true]) {
      const set = { network: 'blue', name: NAME, isForFirewalls };
      it.facts.set('domainSet', domainSetId(set), set);
    }
    const ids = it.render().northbound['Address_Set']?.flatMap(({ external_ids: all }) => {
      const { 'k8s.ovn.org/owner-type': type, 'k8s.ovn.org/id': id } = all as Record<string, string>;
      return type === 'DomainName' ? [id] : [];
    });
    expect(new Set(ids).size).toBe(4);
  });
});
