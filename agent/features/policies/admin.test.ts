import { describe, expect, it } from 'vitest';
import { parseCidr } from '../../../net/cidr.ts';
import { parseDomainName } from '../../../net/domain-name.ts';
import { parseIp } from '../../../net/ip.ts';
import type { AdminRuleFact, DomainSetFact } from '../../model/policies/facts.ts';
import { domainSetId, domainSetName, nodeSetName, peerSetName, subjectSetName } from '../../model/policies/ids.ts';
import { TestCluster } from '../../testing/cluster.ts';

const RULE: AdminRuleFact = {
  ...{ network: 'blue', direction: 'Ingress', family: 4, tier: 'admin', priority: 32_000, action: 'deny' },
  ...{ subjects: 's', peers: { kind: 'set', set: 'p' }, policy: 'AdminNetworkPolicy/a' },
};
const SUBJECTS = { network: 'blue', policy: 'AdminNetworkPolicy/a', tier: 'admin', drops: ['r'] } as const;

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], blue: ['192.168.1.0/24', 'fd00:1::/64'] } })
    .network('blue', {
      ...{ id: 2, topology: 'layer3', subnets: ['192.168.0.0/16', 'fd00::/48'], namespace: 'blue', nad: 'net' },
    })
    .pod('blue/a', {
      node: 'node1',
      networks: {
        default: { ips: ['10.128.0.3/23'], role: 'infrastructure-locked' },
        'blue/net': { ips: ['192.168.1.3/24', 'fd00:1::3/64'], role: 'primary' },
      },
    });

const ofType = (it: TestCluster, table: string, type: string) =>
  (it.render().northbound[table] ?? []).filter(
    ({ external_ids: ids }) => (ids as Record<string, string>)['k8s.ovn.org/owner-type'] === type,
  );
const acls = (it: TestCluster, type: string): unknown[] =>
  ofType(it, 'ACL', type).map((row) => [row['direction'], row['action'], row['priority'], row['tier'], row['match']]);
const [four, six] = [`$${subjectSetName('s', 4)}`, `$${subjectSetName('s', 6)}`];

describe('a rule of an administrators’ policy', () => {
  it('is an ACL of its tier, where the policy has it', () => {
    const it = cluster();
    it.facts.set('adminRule', 'r', RULE);
    it.facts.set('adminRule', 'q', { ...RULE, direction: 'Egress', action: 'pass', tier: 'baseline', priority: 3 });
    it.facts.set('adminRule', 'd', { ...RULE, family: 6, action: 'allow', l4: { protocol: 'tcp', ports: [80] } });
    const peers = (family: 4 | 6) => `$${peerSetName('p', family)}`;
    expect(acls(it, 'AdminRule').sort()).toEqual(
      [
        ['from-lport', 'pass', 3, 3, `ip4.dst == ${peers(4)} && ip4.src == ${four}`],
        ['to-lport', 'drop', 32_000, 1, `ip4.src == ${peers(4)} && ip4.dst == ${four}`],
        ['to-lport', 'allow-related', 32_000, 1, `ip6.src == ${peers(6)} && ip6.dst == ${six} && tcp && tcp.dst == 80`],
      ].sort(),
    );
    const [, rendered] = [it.render(), it.render().northbound['Logical_Switch']];
    expect(rendered?.find(({ name }) => name === 'blue_node1')?.['acls']).toContain(
      'ACL/blue-network-controller:AdminRule:r',
    );
    for (const { direction, options } of ofType(it, 'ACL', 'AdminRule'))
      expect(options ?? {}).toEqual(direction === 'from-lport' ? { 'apply-after-lb': 'true' } : {});
  });

  it('has addresses of nodes in a set, so that no ACL changes with them', () => {
    const it = cluster();
    const addresses = ['172.18.0.2', '172.18.0.3'].map(parseIp);
    it.facts.set('adminRule', 'r', { ...RULE, direction: 'Egress', peers: { kind: 'nodes', addresses } });
    expect(acls(it, 'AdminRule')).toEqual([
      ['from-lport', 'drop', 32_000, 1, `ip4.dst == $${nodeSetName('r')} && ip4.src == ${four}`],
    ]);
    expect(it.render().northbound['Address_Set']).toContainEqual(
      expect.objectContaining({ name: nodeSetName('r'), addresses }),
    );
  });

  it('has domain names as their sets, and no ACL changes with an answer', () => {
    const it = cluster();
    const sets = ['a.example', 'b.example'].map((name) => ({ network: 'blue', name: parseDomainName(name) }));
    for (const set of sets) it.facts.set('domainSet', domainSetId(set), set);
    const rule = { ...RULE, direction: 'Egress', action: 'allow' } as const;
    it.facts.set('adminRule', 'r', { ...rule, peers: { kind: 'domains', sets: sets.map(domainSetId) } });
    it.facts.set('adminRule', 'q', {
      ...rule,
      family: 6,
      peers: { kind: 'domains', sets: sets.slice(1).map(domainSetId) },
    });
    const name = (index: number, family: 4 | 6) =>
      `$${domainSetName(domainSetId(sets[index] as DomainSetFact), family)}`;
    const expected = [
      ['from-lport', 'allow-related', 32_000, 1, `ip4.dst == {${name(0, 4)}, ${name(1, 4)}} && ip4.src == ${four}`],
      ['from-lport', 'allow-related', 32_000, 1, `ip6.dst == ${name(1, 6)} && ip6.src == ${six}`],
    ];
    expect(acls(it, 'AdminRule').sort()).toEqual(expected);
    it.facts.set('domainAddresses', 'a.example.', [parseIp('192.0.2.1')]);
    expect(acls(it, 'AdminRule').sort()).toEqual(expected);
  });

  it('has its blocks in the match', () => {
    const it = cluster();
    it.facts.set('adminRule', 'r', {
      ...{ ...RULE, direction: 'Egress', peers: { kind: 'blocks', blocks: [parseCidr('10.0.0.0/8')] } },
    });
    it.facts.set('adminRule', 'q', { ...RULE, direction: 'Egress', peers: { kind: 'any' } });
    expect(acls(it, 'AdminRule').map((row) => (row as string[])[4])).toEqual([
      `ip4.src == ${four}`,
      `ip4.dst == 10.0.0.0/8 && ip4.src == ${four}`,
    ]);
  });

  it('is nothing where its network is not', () => {
    const it = cluster();
    it.facts.set('adminRule', 'r', { ...RULE, network: 'elsewhere' });
    expect(acls(it, 'AdminRule')).toEqual([]);
  });
});

describe('subjects of an administrators’ policy', () => {
  const withSubject = (): TestCluster => {
    const it = cluster();
    it.facts.set('adminRule', 'r', RULE);
    it.facts.set('subjectSet', 's', SUBJECTS);
    it.facts.set('podPolicy', 'blue/a', {
      ...{ network: 'blue', isolated: [], denyGroup: 'g', rules: [], subjects: ['s'] },
    });
    return it;
  };

  it('are addresses of pods here, in the fragment with their port', () => {
    const it = withSubject();
    const sets = new Map(it.render().northbound['Address_Set']?.map((row) => [row['name'], row['addresses']]));
    expect(sets.get(subjectSetName('s', 4))).toEqual(['192.168.1.3']);
    expect(sets.get(subjectSetName('s', 6))).toEqual(['fd00:1::3']);
    const { members, rows } = it.sinks.northbound.fragments.get('pods:blue/a') ?? {};
    expect(members?.filter(({ table }) => table === 'Address_Set')).toHaveLength(2);
    expect(rows?.map(({ needs }) => needs)).toContainEqual([
      `Address_Set/${subjectSetName('s', 4)}`,
      `Address_Set/${subjectSetName('s', 6)}`,
    ]);
  });

  it('are not there without the rules that drop', () => {
    const it = withSubject();
    it.render();
    const { rows = [] } = it.sinks.northbound.fragments.get('policy-admin-subjects:s') ?? {};
    const sets = rows.filter(({ table }) => table === 'Address_Set');
    expect(sets.map(({ needs }) => needs)).toEqual(Array(2).fill(['ACL/blue-network-controller:AdminRule:r']));
  });

  it('are always reached by their node', () => {
    expect(acls(withSubject(), 'AdminNode').sort()).toEqual(
      [
        ['to-lport', 'allow-related', 32_767, 1, `ip4.src == 192.168.1.2 && ip4.dst == ${four}`],
        ['to-lport', 'allow-related', 32_767, 1, `ip6.src == fd00:1::2 && ip6.dst == ${six}`],
      ].sort(),
    );
  });

  it('lose connections that become forbidden: tiers above the policy’s go on with the next one', () => {
    const it = withSubject();
    const passes = (family: 4 | 6, ...tiers: number[]) =>
      tiers.map((tier) => ['to-lport', 'pass', 1, tier, `ip${family}.dst == ${family === 4 ? four : six}`]);
    expect(acls(it, 'AdminPass').sort()).toEqual([...passes(4, 0), ...passes(6, 0)]);
    it.facts.set('subjectSet', 's', { ...SUBJECTS, tier: 'baseline' });
    expect(acls(it, 'AdminPass').sort()).toEqual([...passes(4, 0, 1, 2), ...passes(6, 0, 1, 2)].sort());
  });

  it('are none of another network than the policy’s', () => {
    const it = withSubject();
    it.facts.set('podPolicy', 'blue/a', {
      ...{ network: 'default', isolated: [], denyGroup: 'g', rules: [], subjects: ['s'] },
    });
    const set = it.render().northbound['Address_Set']?.find(({ name }) => name === subjectSetName('s', 4));
    expect(set?.['addresses'] ?? []).toEqual([]);
  });
});
