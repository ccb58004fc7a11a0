/** Matches as agents render them. */
import { expect, it } from 'vitest';
import type { AdminRuleFact } from '../../agent/model/policies/facts.ts';
import { domainSetName, subjectSetName } from '../../agent/model/policies/ids.ts';
import { TestCluster } from '../../agent/testing/cluster.ts';
import { parseIp } from '../../net/ip.ts';
import { parseRuleMatch, termHas } from './acl-match.ts';

const RULE: AdminRuleFact = {
  ...{ network: 'default', direction: 'Egress', family: 4, tier: 'admin', priority: 31_000, action: 'allow' },
  ...{ subjects: 's', peers: { kind: 'any' }, policy: 'AdminNetworkPolicy/a' },
  l4: { protocol: 'tcp', ports: [443] },
};

it.each([[['d']], [['d', 'e']]])('reads a rule with domain names: %j', (sets) => {
  const cluster = new TestCluster('node1').node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'] } });
  cluster.facts.set('adminRule', 'r', { ...RULE, peers: { kind: 'domains', sets } });
  const [match] = (cluster.render().northbound['ACL'] ?? []).flatMap(({ tier, priority, match: text }) =>
    tier === 1 && priority === 31_000 ? String(text) : [],
  );
  const read = parseRuleMatch(match ?? '');
  expect(read).toMatchObject({
    family: 4,
    source: { sets: [subjectSetName('s', 4)] },
    destination: { sets: sets.map((set) => domainSetName(set, 4)) },
    ports: [{ protocol: 'tcp', first: 443, last: 443 }],
  });
  const setOf = (name: string) => (name === domainSetName(sets.at(-1) ?? '', 4) ? ['192.0.2.1'] : []);
  expect(termHas(read?.destination, parseIp('192.0.2.1'), setOf)).toBe(true);
  expect(termHas(read?.destination, parseIp('192.0.2.2'), setOf)).toBe(false);
});

it.each(['ip4.src==10.128.0.2', 'outport == @a1 && ip4.src == 10.128.0.2'])(
  'reads what lets the node through, which is about no other sender: %s',
  (match) => {
    expect(parseRuleMatch(match)).toMatchObject({ family: 4, source: { blocks: ['10.128.0.2/32'] } });
  },
);

it('reads no match of ports of a group alone', () => expect(parseRuleMatch('outport == @a1')).toBeUndefined());
