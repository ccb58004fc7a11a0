import { describe, expect, it } from 'vitest';
import { parseCidr } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import type { PolicyRuleFact } from '../../model/policies/facts.ts';
import { blockSetName, denyGroupId, denyGroupName, peerSetName, targetSetName } from '../../model/policies/ids.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { ruleMatch } from './match.ts';

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], blue: ['192.168.1.0/24'] } })
    .network('blue', { id: 2, topology: 'layer3', subnets: ['192.168.0.0/16'], namespace: 'blue', nad: 'net' })
    .network('green', {
      ...{ id: 3, topology: 'layer2', subnets: ['100.200.0.0/16'], namespace: 'green', nad: 'net' },
      tunnelKeys: [16_711_686, 16_715_779],
    });

const RULE: PolicyRuleFact = { network: 'blue', direction: 'Ingress', family: 4, peers: { kind: 'set', set: 's' } };

const ofType = (it: TestCluster, table: string, type: string) =>
  (it.render().northbound[table] ?? []).filter(
    ({ external_ids: ids }) => (ids as Record<string, string>)['k8s.ovn.org/owner-type'] === type,
  );

const acls = (it: TestCluster, type: string): unknown[] =>
  ofType(it, 'ACL', type).map((row) => [row['direction'], row['action'], row['priority'], row['tier'], row['match']]);

describe('a group of isolated pods', () => {
  const GROUP = denyGroupId({ network: 'blue' });
  const [inward, outward] = [denyGroupName(GROUP, 'Ingress'), denyGroupName(GROUP, 'Egress')];

  it('drops what comes and goes but for neighbours, and what a pod sends itself through its Service', () => {
    const it = cluster();
    it.facts.set('denyGroup', GROUP, { network: 'blue' });
    expect(acls(it, 'NetpolDeny').sort()).toEqual(
      [
        ['from-lport', 'drop', 999, 2, `inport == @${outward}`],
        ['from-lport', 'allow', 1001, 2, 'arp || nd'],
        ['from-lport', 'allow', 1001, 2, 'ip4.src == 169.254.0.5'],
        ['from-lport', 'allow', 1001, 2, 'ip6.src == fd69::5'],
        ['to-lport', 'drop', 999, 2, `outport == @${inward}`],
        // Connections that were there before: OVN's default of the tiers above would let them through.
        ['to-lport', 'pass', 1, 0, 'ip'],
        ['to-lport', 'pass', 1, 1, 'ip'],
        ['to-lport', 'allow', 1001, 2, 'arp || nd'],
        ['to-lport', 'allow', 1001, 2, 'ip4.src == 169.254.0.5'],
        ['to-lport', 'allow', 1001, 2, 'ip6.src == fd69::5'],
      ].sort(),
    );
    const groups = ofType(it, 'Port_Group', 'NetpolDeny');
    expect(groups.map(({ name, acls: of }) => [name, (of as string[]).length]).sort()).toEqual(
      [
        [inward, 6],
        [outward, 4],
      ].sort(),
    );
    for (const { direction, options } of ofType(it, 'ACL', 'NetpolDeny')) {
      expect(options ?? {}).toEqual(direction === 'from-lport' ? { 'apply-after-lb': 'true' } : {});
    }
  });

  it('logs what it drops, where its namespace has that', () => {
    const it = cluster();
    it.facts.set('denyGroup', 'g', { network: 'blue', log: { namespace: 'blue', severity: 'alert' } });
    const logged = ofType(it, 'ACL', 'NetpolDeny').filter(({ log }) => log === true);
    expect(logged.map(({ priority, name, severity, meter }) => [priority, name, severity, meter]).sort()).toEqual([
      [1000, 'NP:blue:Egress', 'alert', 'acl-logging'],
      [1000, 'NP:blue:Ingress', 'alert', 'acl-logging'],
    ]);
    // What drops all the same when a pod leaves that group.
    expect(acls(it, 'NetpolDeny')).toContainEqual(['to-lport', 'drop', 999, 2, `outport == @${inward}`]);
    expect(ofType(it, 'Port_Group', 'NetpolDeny')).toHaveLength(4);
  });
});

describe('a rule', () => {
  it('is one ACL of the switch with its network’s pods, and a set of its targets', () => {
    const it = cluster();
    it.facts.set('policyRule', 'r', RULE);
    it.facts.set('policyRule', 'q', { ...RULE, network: 'green', direction: 'Egress', stateless: true });
    it.facts.set('policyRule', 'd', { ...RULE, network: 'default', peers: { kind: 'any' } });
    const peers = peerSetName('s', 4);
    expect(acls(it, 'NetpolRule').sort()).toEqual(
      [
        ['from-lport', 'allow-stateless', 1001, 2, `ip4.dst == $${peers} && ip4.src == $${targetSetName('q')}`],
        ['to-lport', 'allow-related', 1001, 2, `ip4.src == $${peers} && ip4.dst == $${targetSetName('r')}`],
        ['to-lport', 'allow-related', 1001, 2, `ip4.dst == $${targetSetName('d')}`],
      ].sort(),
    );
    const aclsOf = (name: string) =>
      it.render().northbound['Logical_Switch']?.find((row) => row['name'] === name)?.['acls'];
    expect(aclsOf('blue_node1')).toContain('ACL/blue-network-controller:NetpolRule:r:Ingress:4');
    expect(aclsOf('green_ovn_layer2_switch')).toContain('ACL/green-network-controller:NetpolRule:q:Egress:4');
    expect(aclsOf('node1')).toContain('ACL/default-network-controller:NetpolRule:d:Ingress:4');
  });

  it('is nothing where its network is not', () => {
    const it = cluster();
    it.facts.set('policyRule', 'r', { ...RULE, network: 'elsewhere' });
    expect(it.render().northbound['Address_Set']).toBeUndefined();
  });

  it('names its policy in the log, as far as OVN has room for names', () => {
    const it = cluster();
    const name = `NP:blue/${'x'.repeat(200)}:Ingress`;
    it.facts.set('policyRule', 'r', { ...RULE, log: { name, severity: 'info' } });
    expect(ofType(it, 'ACL', 'NetpolRule')).toMatchObject([{ log: true, name: name.slice(0, 63), severity: 'info' }]);
  });

  it('has many blocks in a set of their own', () => {
    const it = cluster();
    const blocks = Array.from({ length: 9 }, (_, index) => parseCidr(`10.${index}.0.0/16`));
    it.facts.set('policyRule', 'r', { ...RULE, peers: { kind: 'blocks', blocks } });
    expect(it.render().northbound['Address_Set']).toContainEqual(
      expect.objectContaining({ name: blockSetName('r'), addresses: blocks }),
    );
    expect(acls(it, 'NetpolRule')).toEqual([
      expect.arrayContaining([expect.stringContaining(`ip4.src == $${blockSetName('r')} &&`)]),
    ]);
  });

  const [targets, cidrs] = [`$${targetSetName('r')}`, (...texts: string[]) => texts.map(parseCidr)];
  it.each<[string, Partial<PolicyRuleFact>, string | undefined]>([
    ['all of a protocol', { peers: { kind: 'any' }, l4: { protocol: 'sctp' } }, `ip4.dst == ${targets} && sctp`],
    [
      'one port',
      { peers: { kind: 'any' }, l4: { protocol: 'tcp', ports: [80] } },
      `ip4.dst == ${targets} && tcp && tcp.dst == 80`,
    ],
    [
      'a range',
      { peers: { kind: 'any' }, l4: { protocol: 'udp', ports: [[90, 95]] } },
      `ip4.dst == ${targets} && udp && 90 <= udp.dst <= 95`,
    ],
    [
      'ports and ranges',
      { peers: { kind: 'any' }, l4: { protocol: 'tcp', ports: [80, 443, [90, 95]] } },
      `ip4.dst == ${targets} && tcp && (tcp.dst == {80, 443} || 90 <= tcp.dst <= 95)`,
    ],
    [
      'a block',
      { peers: { kind: 'blocks', blocks: cidrs('10.0.0.0/8') } },
      `ip4.src == 10.0.0.0/8 && ip4.dst == ${targets}`,
    ],
    [
      'two blocks',
      { peers: { kind: 'blocks', blocks: cidrs('10.0.0.0/8', '172.16.0.0/12') } },
      `ip4.src == {10.0.0.0/8, 172.16.0.0/12} && ip4.dst == ${targets}`,
    ],
    ['everything of the family', { peers: { kind: 'blocks', blocks: cidrs('0.0.0.0/0') } }, `ip4.dst == ${targets}`],
    ['everything of IPv6', { family: 6, peers: { kind: 'blocks', blocks: cidrs('::/0') } }, `ip6.dst == ${targets}`],
    ['no block', { peers: { kind: 'blocks', blocks: [] } }, undefined],
    ['no port', { peers: { kind: 'any' }, l4: { protocol: 'tcp', ports: [] } }, undefined],
  ])('matches %s', (_, rule, match) => {
    expect(ruleMatch('r', { ...RULE, ...rule })).toBe(match);
  });
});

it('puts the pods of a peer set into it, whatever node they are on', () => {
  const it = cluster();
  it.facts.set('peerSet', 's', { network: 'blue', families: [4, 6], selects: 'all' });
  it.facts.set('policyPeer', 'blue/a', { sets: new Map([['s', [parseIp('192.168.2.3'), parseIp('fd00::3')]]]) });
  it.facts.set('policyPeer', 'blue/b', { sets: new Map([['s', [parseIp('192.168.2.4')]]]) });
  const sets = it.render().northbound['Address_Set'] ?? [];
  const addresses = new Map(sets.map((row) => [row['name'], row['addresses']]));
  expect(addresses.get(peerSetName('s', 4))).toEqual(['192.168.2.3', '192.168.2.4']);
  expect(addresses.get(peerSetName('s', 6))).toEqual(['fd00::3']);
});

it('lets the node reach its pods on every network, in both families', () => {
  const it = cluster().subnets('node1', 'default', ['10.128.0.0/23', 'fd00:10::/64']);
  expect(acls(it, 'NetpolNode').sort()).toEqual(
    [
      ['to-lport', 'allow-related', 1001, 2, 'ip4.src==10.128.0.2'],
      ['to-lport', 'allow-related', 1001, 2, 'ip6.src==fd00:10::2'],
      ['to-lport', 'allow-related', 1001, 2, 'ip4.src==192.168.1.2'],
      ['to-lport', 'allow-related', 1001, 2, 'ip4.src==100.200.0.2'],
    ].sort(),
  );
});
