/** Administrators' policies beside network policies: against an evaluator that knows nothing of sets, and in another order. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchesSelector } from '../../../../api/label-selector.ts';
import { type Cidr, cidrContainsIp, parseCidr } from '../../../../net/cidr.ts';
import { type Ip, ipFamily, parseIp } from '../../../../net/ip.ts';
import type { FactStore } from '../../../model/fact-store.ts';
import type { FactKind } from '../../../model/facts.ts';
import type { AdminRuleFact, PolicyDirection, PolicyPorts, PolicyProtocol } from '../../../model/policies/facts.ts';
import { DEFAULT_SUBNET, PolicyWorld, WORLD_NETWORKS, type WorldPod } from '../../../testing/policy-world.ts';
import {
  apply,
  applyPolicy,
  event,
  eventsOf,
  NAMESPACES,
  namespaceOf,
  type Objects,
  type Peer,
  type Port,
  type Rule,
  type Spec,
  type Tenant,
} from './random-policies.suite.ts';

const KINDS = [
  ...(['adminRule', 'subjectSet', 'policyRule', 'peerSet', 'denyGroup', 'podPolicy', 'policyPeer'] as const),
] satisfies readonly FactKind[];
const factsOf = (facts: FactStore): unknown =>
  KINDS.map((kind) => [kind, new Map([...facts.ids(kind)].map((id) => [id, facts.get(kind, id)] as const))]);

const begin = (): { world: PolicyWorld; objects: Objects } => {
  const world = new PolicyWorld();
  for (const name of NAMESPACES)
    world.facts.set('namespace', name, { name, wantsPrimaryNetwork: name in WORLD_NETWORKS });
  const objects: Objects = {
    ...{ namespaces: new Map(), networks: new Set(), pods: new Map() },
    ...{ policies: new Map(), isolated: new Map(), nodes: new Map() },
  };
  return { world, objects };
};

it('depends on the objects and not on their order, and decides what a naive evaluator decides', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 10, maxLength: 40 }), fc.infiniteStream(fc.nat()), (events, random) => {
      const { world, objects } = begin();
      for (const one of events) apply(one, world, objects);
      const other = begin();
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
};

const PROBES: readonly (readonly [PolicyProtocol, number])[] = [
  ...([
    ['tcp', 80],
    ['tcp', 81],
    ['tcp', 85],
    ['tcp', 8080],
    ['udp', 53],
    ['sctp', 81],
  ] as const),
];
const OUTSIDE = ['1.2.3.4', '172.18.0.2', '172.18.0.3', '192.0.2.9', '10.0.0.3', '10.128.0.1', 'fd00::3'].map(parseIp);

interface Probe {
  readonly network: string;
  readonly at: string;
  readonly target: WorldPod;
  readonly direction: PolicyDirection;
  readonly ip: Ip;
  readonly protocol: PolicyProtocol;
  readonly port: number;
}

const expectNaive = (facts: FactStore, objects: Objects): void => {
  const wrong: string[] = [];
  const addresses = new Set([
    ...OUTSIDE,
    ...[...objects.pods.values()].flatMap(({ ips = {} }) => Object.values(ips).flat().map(parseIp)),
  ]);
  for (const [at, target] of objects.pods) {
    const network = networkOf(at, objects);
    if (target.isLocal !== true || target.finished === true || network === undefined) {
      expect(facts.get('podPolicy', at)).toBeUndefined();
      continue;
    }
    for (const ip of addresses) {
      if (network.name !== 'cluster_udn_shared' && ipFamily(ip) === 6) continue;
      for (const direction of ['Ingress', 'Egress'] as const)
        for (const [of, number] of PROBES) {
          const probe = { network: network.name, at, target, direction, ip, protocol: of, port: number };
          const want = isAllowed(probe, objects);
          if (isAllowedByFacts(facts, probe) !== want) wrong.push(`${at} ${direction} ${ip} ${of}/${number}: ${want}`);
        }
    }
  }
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

const networkOf = (at: string, { networks }: Objects): { name: string; subnets: readonly Cidr[] } | undefined => {
  const namespace = namespaceOf(at) as Tenant;
  if (!(namespace in WORLD_NETWORKS)) return { name: 'default', subnets: [parseCidr(DEFAULT_SUBNET)] };
  const { name, subnets } = WORLD_NETWORKS[namespace];
  return networks.has(namespace) ? { name, subnets: subnets.map(parseCidr) } : undefined;
};

const isAllowed = (probe: Probe, objects: Objects): boolean => {
  const admin = [...objects.policies]
    .filter(([name]) => name !== 'default')
    .sort(([a, one], [b, two]) => one.priority - two.priority || (a < b ? -1 : 1))
    .flatMap(([, one]) => decisionOf(one, probe, objects) ?? [])[0];
  if (admin === 'Allow' || admin === 'Deny') return admin === 'Allow';
  const isIsolated = [...objects.isolated].some(
    ([at, one]) => namespaceOf(at) === namespaceOf(probe.at) && matchesSelector(one, probe.target.labels ?? {}),
  );
  if (isIsolated) return false;
  const baseline = objects.policies.get('default');
  return baseline === undefined || decisionOf(baseline, probe, objects) !== 'Deny';
};

const decisionOf = (policy: Spec, probe: Probe, objects: Objects): Rule['action'] | undefined =>
  isSelected(policy.subject, probe.at, probe.target, objects)
    ? policy[probe.direction === 'Ingress' ? 'ingress' : 'egress'].find((rule) => matches(rule, probe, objects))?.action
    : undefined;

const isSelected = ({ namespaces, pods }: Peer, at: string, one: WorldPod, objects: Objects): boolean => {
  const known = objects.namespaces.get(namespaceOf(at));
  return (
    known !== undefined &&
    matchesSelector(namespaces ?? pods?.namespaceSelector ?? {}, known) &&
    matchesSelector(pods?.podSelector ?? {}, one.labels ?? {})
  );
};

const matches = ({ from, to, ports: which }: Rule, probe: Probe, objects: Objects): boolean =>
  (from ?? to ?? []).some((peer) => {
    const found = podsAt(probe, objects).filter(([at, one]) => isSelected(peer, at, one, objects));
    const isPeer =
      peer.nodes !== undefined || peer.networks !== undefined ? isOutside(peer, probe.ip, objects) : found.length > 0;
    const owners = probe.direction === 'Ingress' ? [probe.target] : found.map(([, one]) => one);
    return isPeer && (which === undefined || which.some((port) => matchesPort(port, probe, owners)));
  });

const isOutside = ({ nodes, networks = [] }: Peer, ip: Ip, objects: Objects): boolean =>
  networks.some((cidr) => cidrContainsIp(parseCidr(cidr), ip)) ||
  // What is within the cluster's own ranges is no node's.
  (nodes !== undefined &&
    !cidrContainsIp(parseCidr(DEFAULT_SUBNET), ip) &&
    [...objects.nodes.values()].some(
      ({ labels: own, ips }) => matchesSelector(nodes, own) && ips.map(parseIp).includes(ip),
    ));

const matchesPort = (
  { portNumber, portRange, namedPort }: Port,
  probe: Probe,
  owners: readonly WorldPod[],
): boolean => {
  if (portNumber !== undefined)
    return portNumber.protocol.toLowerCase() === probe.protocol && portNumber.port === probe.port;
  if (portRange !== undefined)
    return (
      portRange.protocol.toLowerCase() === probe.protocol &&
      portRange.start <= probe.port &&
      probe.port <= portRange.end
    );
  return owners.some(
    ({ ports: own = [] }) =>
      own.find((text) => text.startsWith(`${namedPort}:${probe.protocol}:`))?.split(':')[2] === String(probe.port),
  );
};

/** Pods that have the address on the probe's network. */
const podsAt = ({ network, ip }: Probe, objects: Objects): [string, WorldPod][] =>
  [...objects.pods].filter(([at, one]) => {
    const place = networkOf(at, objects);
    const nad = namespaceOf(at) in WORLD_NETWORKS ? `${namespaceOf(at)}/net` : 'default';
    return (
      one.finished !== true &&
      place?.name === network &&
      place.subnets.some((subnet) => cidrContainsIp(subnet, ip)) &&
      one.ips?.[nad]?.some((text) => parseIp(text) === ip) === true
    );
  });
