/** Administrators' policies beside network policies: against an evaluator that knows nothing of sets, and in another order. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cidrContainsIp } from '../../../../net/cidr.ts';
import { ipFamily } from '../../../../net/ip.ts';
import type { FactStore } from '../../../model/fact-store.ts';
import type { FactKind } from '../../../model/facts.ts';
import { domainAddressesOn } from '../../../model/policies/domain-rows.ts';
import type { AdminRuleFact, PolicyPorts, PolicyProtocol } from '../../../model/policies/facts.ts';
import { isAllowed, type Probe, probesOf } from './naive-evaluator.suite.ts';
import { apply, applyPolicy, beginWorld, event, eventsOf, type Objects } from './random-policies.suite.ts';

const KINDS = [
  ...([
    'adminRule',
    'subjectSet',
    'policyRule',
    'peerSet',
    'domainSet',
    'denyGroup',
    'podPolicy',
    'policyPeer',
  ] as const),
] satisfies readonly FactKind[];
const factsOf = (facts: FactStore): unknown =>
  KINDS.map((kind) => [kind, new Map([...facts.ids(kind)].map((id) => [id, facts.get(kind, id)] as const))]);

it('depends on the objects and not on their order, and decides what a naive evaluator decides', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 10, maxLength: 40 }), fc.infiniteStream(fc.nat()), (events, random) => {
      const { world, objects } = beginWorld();
      for (const one of events) apply(one, world, objects);
      const other = beginWorld();
      const shuffled = eventsOf(objects)
        .map((one) => ({ one, at: random.next().value as number }))
        .sort((a, b) => a.at - b.at);
      for (const { one } of shuffled) apply(one, other.world, other.objects);
      expect(factsOf(world.facts)).toEqual(factsOf(other.world.facts));
      expectNaive(world.facts, objects);
      expectClosed(world.facts);
      for (const at of objects.policies.keys()) applyPolicy(at, undefined, world);
      for (const at of objects.isolated.keys()) world.policy(at, undefined);
      for (const kind of KINDS) expect([...world.facts.ids(kind)]).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

/** Whatever is named exists, and whatever exists is named. */
const expectClosed = (facts: FactStore): void => {
  const rules = [...facts.ids('adminRule')].map((id) => facts.get('adminRule', id));
  const sets = new Set(facts.ids('subjectSet'));
  const held = [...facts.ids('podPolicy')].flatMap((id) => facts.get('podPolicy', id)?.subjects ?? []);
  expect(new Set(held)).toEqual(sets);
  expect(rules.filter((rule) => !sets.has(rule?.subjects ?? ''))).toEqual([]);
  const drops = [...sets].flatMap((id) => facts.get('subjectSet', id)?.drops ?? []);
  const decisive = [...facts.ids('adminRule')].filter((id) => facts.get('adminRule', id)?.action !== 'allow');
  expect(drops.sort()).toEqual(decisive.sort());
  const named = rules.flatMap((rule) => (rule?.peers.kind === 'set' ? [rule.peers.set] : []));
  const peers = new Set(facts.ids('peerSet'));
  expect(named.filter((set) => !peers.has(set))).toEqual([]);
  const domains = rules.flatMap((rule) => (rule?.peers.kind === 'domains' ? rule.peers.sets : []));
  expect(new Set(domains)).toEqual(new Set(facts.ids('domainSet')));
};

const expectNaive = (facts: FactStore, objects: Objects): void => {
  const wrong = [...objects.pods.keys()].flatMap((at) => {
    const probes = probesOf(at, objects);
    if (probes.length === 0) expect(facts.get('podPolicy', at)).toBeUndefined();
    return probes.filter((probe) => isAllowedByFacts(facts, probe) !== isAllowed(probe, objects));
  });
  expect(wrong).toEqual([]);
};

/** As OVN does with the ACLs of these facts: tier by tier, and in a tier by priority. */
const isAllowedByFacts = (facts: FactStore, probe: Probe): boolean => {
  const fact = facts.get('podPolicy', probe.at);
  const rules = [...facts.ids('adminRule')]
    .flatMap((id) => facts.get('adminRule', id) ?? [])
    .filter((rule) => fact?.subjects?.includes(rule.subjects) === true && isMet(facts, rule, probe))
    .sort((a, b) => b.priority - a.priority);
  const decided = (tier: AdminRuleFact['tier']) => {
    const [first, ...more] = rules.filter((rule) => rule.tier === tier);
    for (const { priority, action: other } of more) if (priority === first?.priority) expect(other).toBe(first.action);
    return first?.action;
  };
  const admin = decided('admin');
  if (admin === 'allow' || admin === 'deny') return admin === 'allow';
  if (fact?.isolated.includes(probe.direction) === true) return false;
  return decided('baseline') !== 'deny';
};

const isMet = (facts: FactStore, rule: AdminRuleFact, { network, direction, ip, ...l4 }: Probe): boolean => {
  if (rule.direction !== direction || rule.family !== ipFamily(ip) || !isPort(rule.l4, l4.protocol, l4.port))
    return false;
  expect(rule.network).toBe(network);
  const { peers } = rule;
  switch (peers.kind) {
    case 'any':
      return true;
    case 'nodes':
      return peers.addresses.includes(ip);
    case 'blocks':
      return peers.blocks.some((one) => cidrContainsIp(one, ip));
    case 'domains':
      return peers.sets.some((id) => {
        const set = facts.get('domainSet', id);
        const addresses = facts.get('domainAddresses', set?.name ?? '') ?? [];
        return domainAddressesOn(facts.get('network', network), addresses).includes(ip);
      });
    case 'set':
      return [...facts.ids('policyPeer')].some(
        (one) => facts.get('policyPeer', one)?.sets.get(peers.set)?.includes(ip) === true,
      );
  }
};

const isPort = (l4: PolicyPorts | undefined, of: PolicyProtocol, number: number): boolean =>
  l4 === undefined ||
  (l4.protocol === of &&
    (l4.ports?.some((term) => (typeof term === 'number' ? term === number : term[0] <= number && number <= term[1])) ??
      true));
