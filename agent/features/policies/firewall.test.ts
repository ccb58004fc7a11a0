import { describe, expect, it } from 'vitest';
import { parseCidr } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import type { AdminRuleFact } from '../../model/policies/facts.ts';
import { nodeSetName, subjectSetName } from '../../model/policies/ids.ts';
import { TestCluster } from '../../testing/cluster.ts';

const RULE: AdminRuleFact = {
  ...{ network: 'blue', direction: 'Egress', family: 4, tier: 'firewall', priority: 10_000, action: 'deny' },
  ...{ subjects: 's', peers: { kind: 'any' }, policy: 'EgressFirewall/blue/default' },
};
const SUBJECTS = { network: 'blue', policy: RULE.policy, tier: 'firewall', drops: ['r'] } as const;
const [four, six] = [`$${subjectSetName('s', 4)}`, `$${subjectSetName('s', 6)}`];

const cluster = (topology: 'layer2' | 'layer3' = 'layer3'): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], blue: ['192.168.1.0/24', 'fd00:1::/64'] } })
    .network('blue', {
      ...{ id: 2, topology, subnets: ['192.168.0.0/16', 'fd00::/48'], namespace: 'blue', nad: 'net' },
      tunnelKeys: topology === 'layer2' ? [16_711_685, 16_715_780] : [],
    });

const ofType = (it: TestCluster, table: string, type: string) =>
  (it.render().northbound[table] ?? []).filter(
    ({ external_ids: ids }) => (ids as Record<string, string>)['k8s.ovn.org/owner-type'] === type,
  );
const acls = (it: TestCluster, type = 'EgressFirewall'): unknown[] =>
  ofType(it, 'ACL', type).map((row) => [row['direction'], row['action'], row['priority'], row['tier'], row['match']]);

describe('a rule of a firewall', () => {
  it('is an ACL at the port to the router, of which no receiver’s policy knows', () => {
    const it = cluster();
    const blocks = [parseCidr('1.2.2.0/23')];
    it.facts.set('adminRule', 'r', { ...RULE, priority: 9998 });
    it.facts.set('adminRule', 'q', {
      ...{ ...RULE, action: 'allow', peers: { kind: 'blocks', blocks }, l4: { protocol: 'udp', ports: [53] } },
    });
    const router = 'outport == "stor-blue_node1"';
    expect(acls(it).sort()).toEqual(
      [
        ['to-lport', 'drop', 9998, 0, `${router} && ip4.src == ${four}`],
        [
          ...['to-lport', 'pass', 10_000, 0],
          `${router} && ip4.dst == 1.2.2.0/23 && ip4.src == ${four} && udp && udp.dst == 53`,
        ],
      ].sort(),
    );
    const [first] = ofType(it, 'ACL', 'EgressFirewall').filter(({ action }) => action === 'drop');
    expect(first).toMatchObject({ name: 'EF:blue:2', external_ids: { name: 'blue', 'rule-index': '2' } });
    expect(first?.['options'] ?? {}).toEqual({});
    const blue = it.render().northbound['Logical_Switch']?.find(({ name }) => name === 'blue_node1');
    expect(blue?.['acls']).toContain('ACL/blue-network-controller:EgressFirewall:r');
  });

  it('has a name that the database takes, with its index, in a namespace with the longest name there is', () => {
    const it = cluster();
    it.facts.set('adminRule', 'r', { ...RULE, policy: `EgressFirewall/${'n'.repeat(63)}/default`, priority: 9990 });
    const [row] = ofType(it, 'ACL', 'EgressFirewall');
    expect(row).toMatchObject({ name: `EF:${'n'.repeat(57)}:10`, external_ids: { name: 'n'.repeat(63) } });
  });

  it('has the port of the transit router on layer 2', () => {
    const it = cluster('layer2');
    it.facts.set('adminRule', 'r', { ...RULE, family: 6 });
    expect(acls(it)).toEqual([
      ['to-lport', 'drop', 10_000, 0, `outport == "stotr-blue_ovn_layer2_switch" && ip6.src == ${six}`],
    ]);
  });

  it('has the port of the node, too, where the host sends on what pods send it', () => {
    const it = cluster();
    it.facts.set('adminRule', 'r', { ...RULE, network: 'default' });
    it.facts.set('subjectSet', 's', { ...SUBJECTS, network: 'default' });
    const ports = 'outport == {"stor-node1", "k8s-node1"}';
    expect(acls(it)).toEqual([['to-lport', 'drop', 10_000, 0, `${ports} && ip4.src == ${four}`]]);
    expect(acls(it, 'EgressFirewallExempt')).toEqual([
      [
        ...['to-lport', 'pass', 10_001, 0],
        `${ports} && ip4.dst == {10.128.0.0/14, 172.16.1.0/24} && ip4.src == ${four}`,
      ],
    ]);
  });

  it('has addresses of nodes in a set', () => {
    const it = cluster();
    const addresses = ['172.18.0.2', '172.18.0.3'].map(parseIp);
    it.facts.set('adminRule', 'r', { ...RULE, peers: { kind: 'nodes', addresses } });
    expect(it.render().northbound['Address_Set']).toContainEqual(
      expect.objectContaining({ name: nodeSetName('r'), addresses }),
    );
  });
});

it('is not about the cluster’s own addresses, and its pods are not in its sets before its rules are', () => {
  const it = cluster();
  it.facts.set('adminRule', 'r', RULE);
  it.facts.set('subjectSet', 's', SUBJECTS);
  expect(acls(it, 'EgressFirewallExempt')).toEqual([
    [
      ...['to-lport', 'pass', 10_001, 0],
      `outport == "stor-blue_node1" && ip4.dst == {192.168.0.0/16, 172.16.1.0/24} && ip4.src == ${four}`,
    ],
    [...['to-lport', 'pass', 10_001, 0], `outport == "stor-blue_node1" && ip6.dst == fd00::/48 && ip6.src == ${six}`],
  ]);
  expect([...acls(it, 'AdminNode'), ...acls(it, 'AdminPass')]).toEqual([]);
  expect(
    ofType(it, 'Address_Set', 'AdminSubjects')
      .map(({ name }) => `$${name}`)
      .sort(),
  ).toEqual([four, six].sort());
});
