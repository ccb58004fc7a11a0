/** Firewalls as facts, against what their specs say rule by rule, and in another order of events. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type LabelSelector, type Labels, matchesSelector } from '../../../../api/label-selector.ts';
import { cidrContainsIp, parseCidr } from '../../../../net/cidr.ts';
import { type Ip, ipFamily, parseIp } from '../../../../net/ip.ts';
import type { FactStore } from '../../../model/fact-store.ts';
import type { AdminRuleFact } from '../../../model/policies/facts.ts';
import { PolicyWorld } from '../../../testing/policy-world.ts';

interface Port {
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
}
interface Rule {
  readonly type: 'Allow' | 'Deny';
  readonly to: { readonly cidrSelector?: string; readonly nodeSelector?: LabelSelector };
  readonly ports?: readonly Port[] | undefined;
}
interface Node {
  readonly labels: Labels;
  readonly ips: readonly string[];
}
type Event =
  | { readonly what: 'firewall'; readonly at: string; readonly item: readonly Rule[] | undefined }
  | { readonly what: 'pod'; readonly at: string; readonly item: boolean }
  | { readonly what: 'node'; readonly at: string; readonly item: Node | undefined };

const NAMESPACES = ['red', 't1'] as const;
const IPS = [
  '1.2.3.4',
  '1.2.3.5',
  '1.2.9.9',
  '172.18.0.2',
  '172.18.0.3',
  '8.8.8.8',
  '2001:db8::1',
  '2001:db8:1::1',
].map(parseIp);
const PORTS: readonly Port[] = [80, 81, 443, 8443, 53].flatMap((port) =>
  (['TCP', 'UDP'] as const).map((protocol) => ({ protocol, port })),
);

const port = fc.constantFrom(...PORTS);
const rule: fc.Arbitrary<Rule> = fc.record({
  type: fc.constantFrom('Allow', 'Deny'),
  to: fc.oneof(
    fc.record({
      cidrSelector: fc.constantFrom('0.0.0.0/0', '::/0', '1.2.3.4/32', '1.2.3.9/24', '1.2.0.0/16', '2001:db8::/48'),
    }),
    fc.record({
      nodeSelector: fc.constantFrom<LabelSelector[]>({}, { matchLabels: { db: 'yes' } }, { matchLabels: { db: 'no' } }),
    }),
  ),
  ports: fc.option(fc.array(port, { minLength: 1, maxLength: 5 }), { nil: undefined }),
});
const node: fc.Arbitrary<Node> = fc.record({
  labels: fc.constantFrom<Labels[]>({}, { db: 'yes' }, { db: 'no' }),
  ips: fc.constantFrom(['172.18.0.2'], ['172.18.0.3', '2001:db8:1::1']),
});
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    ...{ what: fc.constant('firewall' as const), at: fc.constantFrom(...NAMESPACES) },
    item: fc.option(fc.array(rule, { maxLength: 6 }), { nil: undefined, freq: 5 }),
  }),
  fc.record({
    ...{ what: fc.constant('pod' as const), at: fc.constantFrom('red/a', 'red/b', 't1/a'), item: fc.boolean() },
  }),
  fc.record({
    ...{ what: fc.constant('node' as const), at: fc.constantFrom('n1', 'n2') },
    item: fc.option(node, { nil: undefined }),
  }),
);

const begin = (): PolicyWorld => {
  const world = new PolicyWorld();
  for (const name of NAMESPACES) world.namespace(name, {});
  return world.network('t1');
};

const apply = (world: PolicyWorld, { what, at, item }: Event): void => {
  if (what === 'firewall')
    world.adminPolicy('EgressFirewall', `${at}/default`, item === undefined ? undefined : { egress: item });
  else if (what === 'node') world.node(at, item);
  else world.pod(at, item ? podOf(at) : undefined);
};

const podOf = (at: string) => ({
  ips: at.startsWith('t1')
    ? { 't1/net': ['10.0.0.3', 'fd00::3'] }
    : { default: [`10.128.0.${at.endsWith('a') ? 3 : 4}`] },
});

const lastOf = (events: readonly Event[]): ReadonlyMap<string, Event> =>
  new Map(events.map((one) => [`${one.what} ${one.at}`, one]));

it('decide what the first rule says that matches, and depend on the objects and not on their order', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), fc.nat(), (events, turn) => {
      const world = begin();
      for (const one of events) apply(world, one);
      const last = lastOf(events);
      const objects = [...last.values()];
      const other = begin();
      for (let at = 0; at < objects.length; at += 1) apply(other, objects[(at + turn) % objects.length] as Event);
      expect(factsOf(other.facts)).toEqual(factsOf(world.facts));
      for (const one of objects) if (one.what === 'pod' && one.item) expectNaive(world.facts, one.at, last);
      for (const one of objects) if (one.what !== 'node') apply(world, { ...one, item: undefined } as Event);
      expect(factsOf(world.facts)).toEqual(factsOf(begin().facts));
    }),
    { numRuns: 150 },
  );
});

const factsOf = (facts: FactStore): unknown =>
  (['adminRule', 'subjectSet', 'podPolicy'] as const).map((kind) =>
    [...facts.ids(kind)].map((id) => [id, facts.get(kind, id)]).sort(),
  );

const expectNaive = (facts: FactStore, pod: string, last: ReadonlyMap<string, Event>): void => {
  const firewall = last.get(`firewall ${pod.split('/')[0]}`);
  const rules = firewall?.what === 'firewall' ? (firewall.item ?? []) : [];
  const nodes = [...last.values()].flatMap((one) => (one.what === 'node' && one.item ? [one.item] : []));
  const own = facts.get('podPolicy', pod)?.subjects ?? [];
  const known = [...facts.ids('adminRule')].flatMap((id) => facts.get('adminRule', id) ?? []);
  for (const ip of IPS.filter((one) => pod.startsWith('t1') || ipFamily(one) === 4)) {
    for (const probe of PORTS) {
      const first = known
        .filter((one) => own.includes(one.subjects) && isMet(one, ip, probe))
        .sort((a, b) => b.priority - a.priority)[0];
      const said = rules.find((one) => matches(one, ip, probe, nodes));
      expect(first?.action ?? 'none').toBe(said === undefined ? 'none' : said.type.toLowerCase());
    }
  }
};

const matches = ({ to, ports }: Rule, ip: Ip, probe: Port, nodes: readonly Node[]): boolean => {
  const { cidrSelector, nodeSelector } = to;
  const isPeer =
    cidrSelector === undefined
      ? nodes.some(({ labels, ips }) => matchesSelector(nodeSelector ?? {}, labels) && ips.map(parseIp).includes(ip))
      : cidrContainsIp(parseCidr(cidrSelector.replace('1.2.3.9/24', '1.2.3.0/24')), ip);
  return isPeer && (ports?.some((one) => one.protocol === probe.protocol && one.port === probe.port) ?? true);
};

const isMet = ({ family, peers, l4 }: AdminRuleFact, ip: Ip, probe: Port): boolean => {
  const isPort =
    l4 === undefined || (l4.protocol === probe.protocol.toLowerCase() && (l4.ports?.includes(probe.port) ?? true));
  if (family !== ipFamily(ip) || !isPort) return false;
  if (peers.kind === 'nodes') return peers.addresses.includes(ip);
  return peers.kind === 'blocks' && peers.blocks.some((block) => cidrContainsIp(block, ip));
};
