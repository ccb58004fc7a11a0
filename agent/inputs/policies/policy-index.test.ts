import { describe, expect, it } from 'vitest';
import { parseCidr } from '../../../net/cidr.ts';
import type { FactStore } from '../../model/fact-store.ts';
import type { PolicyRuleFact } from '../../model/policies/facts.ts';
import { PolicyWorld } from '../../testing/policy-world.ts';

/** What the facts say of each isolated pod, with the members of sets in the place of their ids. */
const textOf = (facts: FactStore): Record<string, string[]> => {
  const entries = [...facts.ids('podPolicy')].sort().map((key): [string, string[]] => {
    const { isolated = [], rules = [], network = '' } = facts.get('podPolicy', key) ?? {};
    return [key, [`${network}: ${isolated.join(' ')}`, ...rules.map((id) => ruleText(id, facts)).sort()]];
  });
  return Object.fromEntries(entries);
};

const ruleText = (id: string, facts: FactStore): string => {
  const rule = facts.get('policyRule', id);
  if (rule === undefined) return 'missing';
  const log = rule.log === undefined ? '' : ` log ${rule.log.name} ${rule.log.severity}`;
  const stateless = rule.stateless === true ? ' stateless' : '';
  return `${rule.direction}${rule.family} ${peersText(rule, facts)}${portsText(rule)}${stateless}${log}`;
};

const peersText = ({ peers }: PolicyRuleFact, facts: FactStore): string => {
  if (peers.kind === 'any') return 'any';
  if (peers.kind === 'blocks') return peers.blocks.join(' ');
  const members = [...facts.ids('policyPeer')].flatMap(
    (pod) => facts.get('policyPeer', pod)?.sets.get(peers.set) ?? [],
  );
  return `[${members.sort().join(' ')}]`;
};

const portsText = ({ l4 }: PolicyRuleFact): string => {
  if (l4 === undefined) return '';
  const terms = l4.ports?.map((term) => (typeof term === 'number' ? term : term.join('-')));
  return terms === undefined ? ` ${l4.protocol}` : ` ${l4.protocol}/${terms.join(',')}`;
};

const ALL = { podSelector: {} };
const APP_A = { podSelector: { matchLabels: { app: 'a' } } };
const local = (app: string, ip: string, ports: readonly string[] = []) => ({
  labels: { app },
  ips: { default: [ip] },
  ports,
});
const remote = (app: string, ip: string, ports: readonly string[] = []) => ({
  ...local(app, ip, ports),
  isLocal: false,
});

/** `red` and `blue` are on the default network, `t1` and `t2` share one, `t3` has one of the same subnet. */
const worldOf = () => {
  const world = new PolicyWorld();
  for (const name of ['red', 'blue', 't1', 't2', 't3']) world.namespace(name, { team: name });
  return world.network('t1').network('t2').network('t3');
};
const tenant = (namespace: string, app: string, ...ips: string[]) => ({
  labels: { app },
  ips: { [`${namespace}/net`]: ips },
});

describe('PolicyIndex', () => {
  it('isolates and allows, and leaves nothing behind', () => {
    const world = worldOf();
    const { facts } = world;
    world.policy('red/p', { ...APP_A, ingress: [{ from: [ALL], ports: [{ port: 80 }] }] });
    expect(textOf(facts)).toEqual({});
    world.pod('red/a', local('a', '10.128.0.5'));
    world.pod('red/b', remote('b', '10.128.2.6'));
    world.pod('blue/b', remote('b', '10.128.2.7'));
    expect(textOf(facts)).toEqual({ 'red/a': ['default: Ingress', 'Ingress4 [10.128.0.5 10.128.2.6] tcp/80'] });
    world.pod('red/b', undefined);
    expect(textOf(facts)['red/a']).toContain('Ingress4 [10.128.0.5] tcp/80');
    world.policy('red/p', undefined);
    for (const kind of ['policyRule', 'peerSet', 'denyGroup', 'podPolicy', 'policyPeer'] as const)
      expect([...facts.ids(kind)]).toEqual([]);
  });

  it('shares rules and sets between policies that need the same', () => {
    const world = worldOf().pod('red/a', local('a', '10.128.0.5')).pod('red/b', local('b', '10.128.0.6'));
    for (const app of ['a', 'b', 'c'])
      world.policy(`red/${app}`, { podSelector: { matchLabels: { app } }, ingress: [{ from: [ALL] }] });
    expect([...world.facts.ids('policyRule')]).toHaveLength(1);
    expect([...world.facts.ids('peerSet')]).toHaveLength(1);
    expect(world.index.reader.policiesOfRule([...world.facts.ids('policyRule')][0] ?? '')).toEqual(['red/a', 'red/b']);
  });

  it('has sets of the families that rules name, and no other addresses in them', () => {
    const world = worldOf()
      .pod('t3/c', tenant('t3', 'c', '10.0.0.3', 'fd00::3'))
      .policy('t3/p', { ...ALL, ingress: [{ from: [{ namespaceSelector: {} }] }] });
    const { facts } = world;
    const network = facts.get('network', 't3_own');
    const subnetsAre = (...subnets: string[]): void => {
      if (network !== undefined) {
        facts.set('network', 't3_own', { ...network, subnets: subnets.map((cidr) => ({ cidr: parseCidr(cidr) })) });
      }
      world.index.changePod('t3/none', undefined);
    };
    const sets = () => [...facts.ids('peerSet')].map((id) => facts.get('peerSet', id)?.families);
    expect(sets()).toEqual([[4]]);
    expect(textOf(facts)['t3/c']).toEqual(['t3_own: Ingress', 'Ingress4 [10.0.0.3]']);
    subnetsAre('10.0.0.0/16', 'fd00::/64');
    expect(sets()).toEqual([[4, 6]]);
    const both = ['t3_own: Ingress', 'Ingress4 [10.0.0.3 fd00::3]', 'Ingress6 [10.0.0.3 fd00::3]'];
    expect(textOf(facts)['t3/c']).toEqual(both);
    subnetsAre('fd00::/64');
    expect(sets()).toEqual([[6]]);
    expect(textOf(facts)['t3/c']).toEqual(['t3_own: Ingress', 'Ingress6 [fd00::3]']);
    world.policy('t3/p', undefined);
    expect(sets()).toEqual([]);
  });

  it('puts no address of a node into a set of a family that the default network has not', () => {
    const world = worldOf()
      .pod('red/a', local('a', '10.128.0.5'))
      .pod('red/h', { isHost: true, node: 'h2', isLocal: false })
      .policy('red/p', { ...APP_A, ingress: [{ from: [{ namespaceSelector: {} }] }] });
    expect(textOf(world.facts)['red/a']).toEqual(['default: Ingress', 'Ingress4 [10.128.0.5 10.128.4.2 192.0.2.12]']);
  });

  it('never sees an address of another network', () => {
    const world = worldOf()
      .pod('t1/a', tenant('t1', 'a', '10.0.0.1', 'fd00::1'))
      .pod('t2/b', tenant('t2', 'b', '10.0.0.2', 'fd00::2'))
      .pod('t3/c', tenant('t3', 'c', '10.0.0.3'))
      .pod('red/d', { ips: { default: ['10.128.0.9'], 't1/net': ['10.0.0.9'] } })
      .pod('t2/out', tenant('t2', 'b', '10.9.0.1'))
      .policy('t1/p', { ...ALL, ingress: [{ from: [{ namespaceSelector: {} }] }] });
    expect(textOf(world.facts)).toEqual({
      't1/a': [
        'cluster_udn_shared: Ingress',
        'Ingress4 [10.0.0.1 10.0.0.2 fd00::1 fd00::2]',
        'Ingress6 [10.0.0.1 10.0.0.2 fd00::1 fd00::2]',
      ],
    });
    world.pod('t1/locked', { isLocal: false, ips: { default: ['10.128.0.8'] } });
    world.policy('red/p', { ...ALL, egress: [{ to: [{ namespaceSelector: {} }] }], policyTypes: ['Egress'] });
    expect(textOf(world.facts)['red/d']).toEqual(['default: Egress', 'Egress4 [10.128.0.9]']);
  });

  it('waits for the network of a namespace', () => {
    const world = worldOf()
      .network('t3', false)
      .pod('t3/c', tenant('t3', 'c', '10.0.0.3'))
      .policy('t3/p', { ...ALL, ingress: [{}] });
    expect(textOf(world.facts)).toEqual({});
    world.network('t3');
    expect(textOf(world.facts)).toEqual({ 't3/c': ['t3_own: Ingress', 'Ingress4 any'] });
    world.network('t3', false);
    expect([...world.facts.ids('policyRule'), ...world.facts.ids('denyGroup')]).toEqual([]);
  });

  it('follows labels of pods and of namespaces', () => {
    const world = worldOf()
      .pod('red/a', local('a', '10.128.0.5'))
      .pod('blue/b', remote('b', '10.128.2.7'))
      .policy('red/p', { ...APP_A, ingress: [{ from: [{ namespaceSelector: { matchLabels: { open: 'yes' } } }] }] });
    expect(textOf(world.facts)['red/a']).toContain('Ingress4 []');
    world.namespace('blue', { open: 'yes' });
    expect(textOf(world.facts)['red/a']).toContain('Ingress4 [10.128.2.7]');
    world.pod('blue/b', { ...remote('b', '10.128.2.7'), finished: true });
    expect(textOf(world.facts)['red/a']).toContain('Ingress4 []');
    world.pod('red/a', local('z', '10.128.0.5'));
    expect(textOf(world.facts)).toEqual({});
  });

  it('lists an address of two pods until one of them leaves', () => {
    const world = worldOf()
      .pod('red/a', local('a', '10.128.0.5'))
      .policy('red/p', { ...APP_A, ingress: [{ from: [{ podSelector: { matchLabels: { app: 'b' } } }] }] })
      .pod('red/old', remote('b', '10.128.2.7'))
      .pod('red/new', remote('b', '10.128.2.7'));
    expect(textOf(world.facts)['red/a']).toContain('Ingress4 [10.128.2.7 10.128.2.7]');
    world.pod('red/old', undefined);
    expect(textOf(world.facts)['red/a']).toContain('Ingress4 [10.128.2.7]');
  });
});

describe('named ports', () => {
  it('of ingress are those of the target', () => {
    const world = worldOf()
      .pod('red/a', local('a', '10.128.0.5', ['http:tcp:80']))
      .pod('red/b', local('b', '10.128.0.6', ['http:tcp:8080']))
      .pod('red/c', local('c', '10.128.0.7', ['http:udp:80']))
      .policy('red/p', { ...ALL, ingress: [{ ports: [{ port: 'http' }] }] });
    expect(textOf(world.facts)).toEqual({
      'red/a': ['default: Ingress', 'Ingress4 any tcp/80'],
      'red/b': ['default: Ingress', 'Ingress4 any tcp/8080'],
      'red/c': ['default: Ingress'],
    });
  });

  it('of egress are those of the peers, at most 16 numbers', () => {
    const world = worldOf()
      .pod('red/a', local('a', '10.128.0.5'))
      .policy('red/p', { ...APP_A, policyTypes: ['Egress'], egress: [{ to: [ALL], ports: [{ port: 'http' }] }] });
    expect(world.index.problems().map(({ message }) => message)).toEqual(['no peer has a port http/tcp']);
    world
      .pod('red/b', remote('b', '10.128.2.1', ['http:tcp:80']))
      .pod('red/c', remote('c', '10.128.2.2', ['http:tcp:81']));
    expect(textOf(world.facts)['red/a']).toEqual([
      'default: Egress',
      'Egress4 [10.128.2.1] tcp/80',
      'Egress4 [10.128.2.2] tcp/81',
    ]);
    expect(world.index.problems()).toEqual([]);
    world.pod('red/c', remote('c', '10.128.2.2', ['http:tcp:90']));
    expect(textOf(world.facts)['red/a']).toContain('Egress4 [10.128.2.2] tcp/90');
    expect(textOf(world.facts)['red/a']).toHaveLength(1 + 2);
    for (let n = 0; n < 20; n += 1) world.pod(`red/x${n}`, remote('x', `10.128.3.${n}`, [`http:tcp:${100 + n}`]));
    expect(textOf(world.facts)['red/a']).toHaveLength(1 + 16);
    expect(world.index.problems()[0]?.message).toBe(
      'peers have 22 numbers for port http/tcp: the 16 of most pods are allowed',
    );
    world.pod('red/y', remote('y', '10.128.4.1', ['http:tcp:119']));
    expect(textOf(world.facts)['red/a']).toContain('Egress4 [10.128.3.19 10.128.4.1] tcp/119');
    world.pod('red/b', undefined);
    expect(textOf(world.facts)['red/a']).not.toContain('Egress4 [10.128.2.1] tcp/80');
  });
});

describe('logging', () => {
  it('gives rules the name of their policy, and the namespace its own deny group', () => {
    const world = worldOf()
      .pod('red/a', local('a', '10.128.0.5'))
      .policy('red/p', { ...ALL, ingress: [{}] }, { 'k8s.ovn.org/acl-stateless': 'true' });
    expect(textOf(world.facts)['red/a']).toEqual(['default: Ingress', 'Ingress4 any stateless']);
    world.namespace('red', {}, { deny: 'alert', allow: 'notice' });
    expect(textOf(world.facts)['red/a']).toEqual([
      'default: Ingress',
      'Ingress4 any stateless log NP:red/p:Ingress notice',
    ]);
    const groups = [...world.facts.ids('denyGroup')].map((id) => world.facts.get('denyGroup', id));
    expect(groups).toEqual([{ network: 'default', log: { namespace: 'red', severity: 'alert' } }]);
    world.policy(`red/${'long'.repeat(20)}`, { ...ALL, ingress: [{ from: [ALL] }] });
    const names = [...world.facts.ids('policyRule')].map((id) => world.facts.get('policyRule', id)?.log?.name.length);
    expect(names.sort()).toEqual(['NP:red/p:Ingress'.length, 63]);
  });
});

describe('what people ask', () => {
  it('is answered from what there is', () => {
    const world = worldOf()
      .pod('t3/c', tenant('t3', 'c', '10.0.0.3'))
      .pod('t3/d', { ...tenant('t3', 'd', '10.0.0.4'), isLocal: false })
      .policy('t3/p', { ...ALL, ingress: [{ from: [ALL, { ipBlock: { cidr: '::/0' } }] }] });
    const rule = { network: 't3_own', direction: 'Ingress', family: 4 };
    expect(world.index.reader.describePolicy('t3/p')).toMatchObject({
      network: 't3_own',
      targets: ['t3/c'],
      rules: [{ fact: rule, peers: { selects: 'all pods in namespace t3', pods: 2 } }],
      problems: [{ message: 'its ipBlocks of IPv6 match nothing: the network has no IPv6 addresses' }],
    });
    expect(world.index.reader.isolating('t3/c')).toEqual([{ policy: 't3/p', types: ['Ingress'] }]);
    expect(world.index.reader.isolating('t3/d')).toEqual([]);
    expect(world.index.reader.describePolicy('t3/other')).toBeUndefined();
  });
});
