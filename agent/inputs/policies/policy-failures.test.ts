import { afterEach, describe, expect, it, vi } from 'vitest';
import { PolicyWorld } from '../../testing/policy-world.ts';
import { AdminOrders } from './admin/admin-orders.ts';
import { AdminTable } from './admin/admin-table.ts';
import { NodePeers } from './admin/node-peers.ts';
import { SiteRules } from './admin/site-rules.ts';
import { canonicalSelector } from './canonical-selector.ts';
import { NamespaceScopes } from './namespace-scopes.ts';
import { PeerFiling } from './peer-filing.ts';
import { PeerTable } from './peer-table.ts';
import { PolicyBudgets } from './policy-budgets.ts';
import { Postings } from './postings.ts';
import { RuleTable } from './rule-table.ts';

const ALL = { podSelector: {} };
const CLOSED = { network: 'default', isolated: ['Ingress', 'Egress'], rules: [], isClosed: true };
const ERROR = new RangeError('Maximum call stack size exceeded');

const failOnce = (target: object, method: string): void => {
  vi.spyOn(target as Record<string, () => unknown>, method).mockImplementationOnce(() => {
    throw ERROR;
  });
};

const worldOf = () => {
  const world = new PolicyWorld().namespace('red', {}).namespace('blue', {});
  return world.pod('red/a', { ips: { default: ['10.128.0.5'] } }).pod('blue/b', { ips: { default: ['10.128.0.6'] } });
};

describe('PolicyIndex that fails', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each([
    [PeerTable.prototype, 'move'],
    [Postings.prototype, 'matching'],
  ])('closes a pod until its next event', (target, method) => {
    const world = worldOf().policy('red/p', { ...ALL, ingress: [{ from: [ALL] }] });
    failOnce(target, method);
    world.pod('red/c', { ips: { default: ['10.128.0.7'] } });
    expect(world.facts.get('podPolicy', 'red/c')).toMatchObject(CLOSED);
    expect(world.facts.get('decidedPod', 'red/c')).toBe(true);
    expect(world.facts.get('podPolicy', 'red/a')?.isolated).toEqual(['Ingress']);
    expect(world.index.problems()).toMatchObject([{ object: 'Pod/red/c' }]);
    world.pod('red/c', { ips: { default: ['10.128.0.7'] }, labels: { a: 'b' } });
    const { isolated, rules } = world.facts.get('podPolicy', 'red/c') ?? {};
    expect([isolated, rules]).toEqual([['Ingress'], world.facts.get('podPolicy', 'red/a')?.rules]);
    expect(world.index.problems()).toEqual([]);
  });

  it.each(['acquire', 'release'])('closes the pods of the namespace until the next event of a policy', (method) => {
    const world = worldOf().policy('red/p', { ...ALL, ingress: [{ from: [ALL] }] });
    failOnce(RuleTable.prototype, method);
    world.policy('red/p', { ...ALL, ingress: [{ from: [{ namespaceSelector: {} }] }] });
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject(CLOSED);
    expect(world.facts.get('podPolicy', 'blue/b')).toBeUndefined();
    expect(world.index.problems()).toMatchObject([{ object: 'NetworkPolicy/red/p' }]);
    world.policy('red/p', { ...ALL, ingress: [{ ports: [{ port: 80 }] }] });
    const fact = world.facts.get('podPolicy', 'red/a');
    expect(fact?.isolated).toEqual(['Ingress']);
    expect(fact?.rules.map((id) => world.facts.get('policyRule', id)?.l4)).toEqual([{ protocol: 'tcp', ports: [80] }]);
    expect(world.index.problems()).toEqual([]);
    world.policy('red/p', undefined).pod('red/a', undefined);
    expect([...world.facts.ids('podPolicy')]).toEqual([]);
  });

  const DENY = { priority: 1, ingress: [{ action: 'Deny', from: [{ namespaces: {} }] }] };

  it('tries a pod again at the next event of another object', () => {
    const world = worldOf().adminPolicy('AdminNetworkPolicy', 'd', { ...DENY, subject: { namespaces: {} } });
    failOnce(AdminTable.prototype, 'movePod');
    world.pod('red/c', { ips: { default: ['10.128.0.7'] } });
    expect(world.facts.get('podPolicy', 'red/c')).toMatchObject(CLOSED);
    world.namespace('green', {});
    expect(world.facts.get('podPolicy', 'red/c')).toEqual(world.facts.get('podPolicy', 'red/a'));
    expect(world.index.problems()).toEqual([]);
  });

  it('makes pods subjects once a label of their namespace says so, though that failed first', () => {
    const subject = { namespaces: { matchLabels: { q: '1' } } };
    const world = worldOf().adminPolicy('AdminNetworkPolicy', 'd', { ...DENY, subject });
    failOnce(AdminTable.prototype, 'movePod');
    world.namespace('red', { q: '1' });
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject(CLOSED);
    world.namespace('red', { q: '1', z: '2' });
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject({ isolated: [], subjects: [expect.any(String)] });
    expect(world.index.problems()).toEqual([]);
  });

  it.each([AdminTable.prototype, PeerTable.prototype])('tells pods of labels that failed before they came', (table) => {
    const scope = { namespaces: { matchLabels: { q: '1' } } };
    const world = new PolicyWorld().adminPolicy('AdminNetworkPolicy', 'd', { ...DENY, subject: scope });
    failOnce(table, 'changeNamespace');
    expect(() => world.namespace('red', { q: '1' })).not.toThrow();
    expect(world.index.problems()).toMatchObject([{ object: 'Namespace/red' }]);
    world.pod('red/a', { ips: { default: ['10.128.0.5'] } });
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject(CLOSED);
    world.namespace('red', { q: '1' });
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject({ isolated: [], subjects: [expect.any(String)] });
  });

  it('takes a peer that is gone out of all sets, though that fails', () => {
    const from = [{ namespaceSelector: {} }];
    const world = worldOf().policy('red/p', { ...ALL, ingress: [{ from }] });
    world.pod('blue/peer', { isLocal: false, ips: { default: ['10.128.2.6'] } });
    expect(world.facts.get('policyPeer', 'blue/peer')).toBeDefined();
    failOnce(PeerTable.prototype, 'move');
    world.pod('blue/peer', undefined);
    expect(world.facts.get('policyPeer', 'blue/peer')).toBeUndefined();
    expect(world.index.reader.describePolicy('red/p')?.rules[0]?.peers?.pods).toBe(2);
    world.node('n', undefined);
    expect(world.index.problems()).toEqual([]);
  });

  it('counts the ports of a peer anew that could not be moved', () => {
    const from = [{ namespaceSelector: {} }];
    const world = worldOf().policy('red/p', { ...ALL, egress: [{ to: from, ports: [{ port: 'db' }] }] });
    const peer = { isLocal: false, ips: { default: ['10.128.2.6'] } };
    const numbers = () => [...world.facts.ids('policyRule')].map((id) => world.facts.get('policyRule', id)?.l4);
    world.pod('blue/peer', { ...peer, ports: ['db:tcp:5432'] });
    failOnce(PeerTable.prototype, 'move');
    world.pod('blue/peer', { ...peer, ports: ['db:tcp:5433'] });
    expect(world.index.problems()).toMatchObject([{ object: 'Pod/blue/peer' }]);
    world.namespace('green', {});
    expect(numbers()).toEqual([{ protocol: 'tcp', ports: [5433] }]);
    expect(world.index.problems()).toEqual([]);
  });

  it('opens a pod that could not be moved to its network, and could then', () => {
    const world = new PolicyWorld().namespace('t1', {});
    world.adminPolicy('AdminNetworkPolicy', 'd', { ...DENY, subject: { namespaces: {} } });
    world.pod('t1/x', { ips: { 't1/net': ['10.0.0.6'] } });
    failOnce(AdminTable.prototype, 'movePod');
    world.network('t1').namespace('t1', { k: 'v' });
    expect(world.facts.get('podPolicy', 't1/x')).toMatchObject({ isolated: [], subjects: [expect.any(String)] });
    expect(world.index.problems()).toEqual([]);
  });

  const deny = (world: PolicyWorld, priority = 1) =>
    world.adminPolicy('AdminNetworkPolicy', 'd', { ...DENY, priority, subject: { namespaces: {} } });
  const adminRules = (world: PolicyWorld) => [...world.facts.ids('adminRule')].length;
  const SUBJECT = { isolated: [], subjects: [expect.any(String)] };

  it.each<[object, string]>([
    [SiteRules.prototype, 'compile'],
    [PeerTable.prototype, 'acquire'],
    [PeerFiling.prototype, 'add'],
    [AdminOrders.prototype, 'put'],
  ])("closes subjects of an administrators' policy that failed, until the next event", (target, method) => {
    const world = worldOf();
    failOnce(target, method);
    deny(world);
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject(CLOSED);
    expect(world.facts.get('podPolicy', 'red/a')?.subjects).toBeUndefined();
    expect(world.index.problems()).toMatchObject([{ object: 'AdminNetworkPolicy/d' }]);
    world.pod('red/y', { ips: { default: ['10.128.0.9'] } });
    expect(world.facts.get('podPolicy', 'red/y')).toMatchObject(SUBJECT);
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject(SUBJECT);
    expect(adminRules(world)).toBe(1);
    expect(world.index.problems()).toEqual([]);
    world.adminPolicy('AdminNetworkPolicy', 'd', undefined);
    for (const kind of ['adminRule', 'subjectSet', 'peerSet', 'podPolicy', 'policyPeer'] as const)
      expect([...world.facts.ids(kind)]).toEqual([]);
  });

  it.each<[object, string]>([
    [SiteRules.prototype, 'compile'],
    [PeerFiling.prototype, 'add'],
    [PeerFiling.prototype, 'delete'],
    [AdminOrders.prototype, 'put'],
  ])("keeps the rules of an administrators' policy whose change failed", (target, method) => {
    const world = deny(worldOf());
    failOnce(target, method);
    expect(() => deny(world, 2)).not.toThrow();
    expect(adminRules(world)).toBe(1);
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject(CLOSED);
    world.node('n1', { labels: {}, ips: [] });
    expect(adminRules(world)).toBe(1);
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject(SUBJECT);
    expect(world.index.problems()).toEqual([]);
  });

  it("closes whoever may be a new subject of an administrators' policy whose change failed", () => {
    const denyIn = (world: PolicyWorld, subject: object): PolicyWorld =>
      world.adminPolicy('AdminNetworkPolicy', 'd', {
        ...{ priority: 1, subject: { namespaces: subject } },
        ingress: [{ action: 'Deny', from: [{ namespaces: {} }] }],
      });
    const world = denyIn(worldOf(), { matchLabels: { of: 'nobody' } });
    expect(world.facts.get('podPolicy', 'red/a')).toBeUndefined();
    failOnce(PeerFiling.prototype, 'add');
    denyIn(world, {});
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject(CLOSED);
    world.node('n1', { labels: {}, ips: [] });
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject(SUBJECT);
  });

  it('tells a node again that failed', () => {
    const world = worldOf();
    failOnce(NodePeers.prototype, 'change');
    world.node('n1', { labels: {}, ips: ['192.168.0.1'] });
    expect(world.index.problems()).toMatchObject([{ object: 'Node/n1' }]);
    const egress = [{ action: 'Deny', to: [{ nodes: {} }] }];
    world.adminPolicy('AdminNetworkPolicy', 'd', { priority: 1, subject: { namespaces: {} }, egress });
    expect(JSON.stringify([...world.facts.ids('adminRule')].map((id) => world.facts.get('adminRule', id)))).toContain(
      '192.168.0.1',
    );
    expect(world.index.problems()).toEqual([]);
  });

  it("settles the rest though administrators' policies cannot be", () => {
    const world = worldOf();
    failOnce(AdminTable.prototype, 'settle');
    world.policy('red/p', ALL);
    expect(world.facts.get('podPolicy', 'red/a')).toMatchObject(CLOSED);
    failOnce(AdminTable.prototype, 'settle');
    expect(() => deny(world)).not.toThrow();
    world.policy('red/p', ALL);
    expect(adminRules(world)).toBe(1);
    expect(world.index.problems()).toEqual([]);
  });

  it('looks at more selections than a call has arguments', () => {
    const scope = { namespaces: canonicalSelector({}) };
    const selector = canonicalSelector({});
    const filing = new PeerFiling(new NamespaceScopes(new Map([['red', { name: 'red', labels: {}, problems: [] }]])));
    for (let index = 0; index < 150_000; index += 1)
      filing.add({ selection: { text: String(index), scope, selector, hosts: true }, selector });
    expect(filing.matching('red', {})).toHaveLength(150_000);
  });

  it('forgets a pod that is gone', () => {
    const world = worldOf();
    failOnce(PeerTable.prototype, 'move');
    world.pod('red/c', {}).pod('red/c', undefined);
    expect(world.facts.get('podPolicy', 'red/c')).toBeUndefined();
    expect(world.facts.get('decidedPod', 'red/c')).toBeUndefined();
    expect(world.index.problems()).toEqual([]);
  });

  it('does not say that a pod is decided as long as nothing could be settled', () => {
    const world = worldOf().policy('red/p', ALL);
    failOnce(PolicyBudgets.prototype, 'settle');
    failOnce(PolicyBudgets.prototype, 'settle');
    world.pod('red/c', {});
    expect(world.facts.get('decidedPod', 'red/c')).toBeUndefined();
    world.pod('blue/y', {});
    expect(world.facts.get('podPolicy', 'red/c')).toMatchObject(CLOSED);
    expect(world.facts.get('decidedPod', 'red/c')).toBe(true);
  });

  it('does not say that a pod is decided when even closing it fails', () => {
    const world = worldOf();
    vi.spyOn(RuleTable.prototype, 'acquireDenyGroup').mockImplementation(() => {
      throw ERROR;
    });
    world.policy('red/p', ALL);
    expect(() => world.pod('red/c', {})).not.toThrow();
    expect(world.facts.get('decidedPod', 'red/c')).toBeUndefined();
  });
});
