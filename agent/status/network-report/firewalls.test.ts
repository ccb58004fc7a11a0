import { expect, it } from 'vitest';
import { reportStatusSchema } from '../../../api/node-network-report.ts';
import { DONE, type Status } from '../../../base/reconciler.ts';
import { FactStore } from '../../model/fact-store.ts';
import type { AdminRuleFact } from '../../model/policies/facts.ts';
import { NodeFirewalls, type Unfollowed } from './firewalls.ts';

const policyOf = (namespace: string): string => `EgressFirewall/${namespace}/default`;
const rule = (namespace: string): AdminRuleFact => ({
  ...{ network: 'default', direction: 'Egress', family: 4, tier: 'firewall', priority: 10_000, action: 'deny' },
  ...{ subjects: `set-${namespace}`, peers: { kind: 'any' }, policy: policyOf(namespace) },
});

const setUp = () => {
  const facts = new FactStore();
  const states = new Map<string, Status>();
  const versions = new Map<string, string>();
  const problems = new Map<string, string>();
  const names = { unresolved: new Map<string, string>(), awaiting: new Set<string>() };
  const looked: string[] = [];
  let touches = 0;
  const daemons: { now: number; unfollowed: Unfollowed | undefined } = { now: 0, unfollowed: undefined };
  const firewalls = new NodeFirewalls({
    facts,
    ownersOver: (subject, id) => [`${subject}:${id}`],
    statusOf: (owner) => {
      looked.push(owner);
      return states.get(owner) ?? DONE;
    },
    versionOf: (policy) => versions.get(policy),
    problems: () => problems,
    names: () => names,
    clock: { monotonic: () => daemons.now },
    unfollowed: () => daemons.unfollowed,
    onTouched: () => {
      touches += 1;
    },
  });
  facts.listen(firewalls.follow);
  const add = (namespace: string, pods: readonly string[] = ['a']): void => {
    const policy = policyOf(namespace);
    versions.set(policy, `version-${namespace}`.slice(-8));
    facts.set('adminRule', `rule-${namespace}`, rule(namespace));
    facts.set('subjectSet', `set-${namespace}`, { network: 'default', policy, tier: 'firewall', drops: [] });
    for (const pod of pods) enter(`${namespace}/${pod}`, namespace);
  };
  const enter = (pod: string, namespace?: string): void =>
    facts.set('podPolicy', pod, {
      ...{ network: 'default', isolated: [], denyGroup: '', rules: [] },
      subjects: namespace === undefined ? [] : [`set-${namespace}`],
    });
  const set = (owner: string, status: Status): void => {
    states.set(owner, status);
    firewalls.touchOwner(owner);
  };
  return { facts, versions, problems, names, looked, daemons, firewalls, add, enter, set, touches: () => touches };
};

it('a firewall is applied when its rules, its set and its pods are programmed', () => {
  const { firewalls, add, set } = setUp();
  add('red');
  expect(firewalls.report()).toEqual({ applied: 'sion-red' });
  for (const owner of ['adminRule:rule-red', 'subjectSet:set-red', 'pod:red/a']) {
    set(owner, { kind: 'pending' });
    expect(firewalls.report()).toEqual({ applied: '' });
    set(owner, { kind: 'waiting', message: 'a set' });
    expect(firewalls.report()).toEqual({ applied: '' });
    set(owner, { kind: 'failed', message: 'syntax error' });
    expect(firewalls.report()).toEqual({
      ...{ applied: '', problems: [{ firewall: 'sion-red', message: 'syntax error' }] },
    });
    set(owner, DONE);
    expect(firewalls.report()).toEqual({ applied: 'sion-red' });
  }
});

it('what was written after daemons have stopped to follow is not in effect, and what was before is', () => {
  const { firewalls, add, daemons, versions, set } = setUp();
  add('red');
  add('blue');
  daemons.now = 1_000;
  firewalls.report();
  daemons.now = 5_000;
  versions.set(policyOf('red'), 'anotherX');
  firewalls.touchFirewall(policyOf('red'));
  expect(firewalls.report()).toEqual({ applied: 'anotherX,ion-blue' });
  const message = 'ovn-northd has stopped';
  daemons.unfollowed = { message, inEffectUntil: 4_000 };
  firewalls.touchAll();
  const problem = { firewall: 'anotherX', message };
  expect(firewalls.report()).toEqual({ applied: 'ion-blue', problems: [problem] });
  set('pod:blue/a', { kind: 'pending' });
  firewalls.report();
  set('pod:blue/a', DONE);
  expect(firewalls.report().applied).toBe('');
  daemons.unfollowed = undefined;
  firewalls.touchAll();
  expect(firewalls.report()).toEqual({ applied: 'anotherX,ion-blue' });
});

it('a firewall is not applied while a name of it has no address, or no answer yet', () => {
  const { firewalls, add, names, set } = setUp();
  add('red');
  add('blue');
  names.awaiting.add(policyOf('red'));
  firewalls.touchAll();
  expect(firewalls.report()).toEqual({ applied: 'ion-blue' });
  names.awaiting.clear();
  names.unresolved.set(policyOf('red'), 'no address is known for a.example.com');
  firewalls.touchAll();
  const problem = { firewall: 'sion-red', message: 'no address is known for a.example.com' };
  expect(firewalls.report()).toEqual({ applied: 'ion-blue', problems: [problem] });
  set('adminRule:rule-red', { kind: 'failed', message: 'syntax error' });
  expect(firewalls.report().problems).toEqual([{ firewall: 'sion-red', message: 'syntax error' }]);
  set('adminRule:rule-red', DONE);
  names.unresolved.clear();
  firewalls.touchAll();
  expect(firewalls.report()).toEqual({ applied: 'sion-red,ion-blue'.split(',').sort().join() });
});

it('a version of before is not reported when there is another, which may have the same rules', () => {
  const { firewalls, add, versions, touches } = setUp();
  add('red');
  firewalls.report();
  const before = touches();
  versions.set(policyOf('red'), 'anotherX');
  firewalls.touchFirewall(policyOf('red'));
  firewalls.touchFirewall(policyOf('far'));
  expect([touches() - before, firewalls.report()]).toEqual([1, { applied: 'anotherX' }]);
});

it('a firewall that cannot be followed here is a problem, whatever is programmed', () => {
  const { firewalls, add, problems, set } = setUp();
  add('red');
  problems.set(policyOf('red'), 'x'.repeat(999));
  const status = firewalls.report();
  expect([status.applied, status.problems?.[0]?.message.length]).toEqual(['', 256]);
  problems.clear();
  set('adminRule:rule-red', DONE);
  expect(firewalls.report()).toEqual({ applied: 'sion-red' });
});

it('is the node’s while it has subjects here, and leaves nothing behind', () => {
  const { facts, firewalls, add, enter, set } = setUp();
  add('red');
  set('pod:red/a', { kind: 'failed', message: 'no' });
  firewalls.report();
  // The pod is none of its subjects any more.
  enter('red/a');
  firewalls.touchOwner('pod:red/a');
  expect(firewalls.report()).toEqual({ applied: 'sion-red' });
  facts.set('subjectSet', 'set-red', undefined);
  facts.set('adminRule', 'rule-red', undefined);
  facts.set('podPolicy', 'red/a', undefined);
  expect(firewalls.report()).toEqual({ applied: '' });
  firewalls.touchOwner('adminRule:rule-red');
  expect(firewalls.report()).toEqual({ applied: '' });
  add('red', ['b']);
  expect(firewalls.report()).toEqual({ applied: 'sion-red' });
});

it('is not applied while a rule that it does not have any more is programmed still', () => {
  const { facts, firewalls, add, set } = setUp();
  add('red');
  firewalls.report();
  facts.set('adminRule', 'rule-red', undefined);
  // Before anything is rendered, it is not done either.
  expect(firewalls.report()).toEqual({ applied: '' });
  set('adminRule:rule-red', { kind: 'pending', message: 'the database is away' });
  expect(firewalls.report()).toEqual({ applied: '' });
  set('adminRule:rule-red', { kind: 'failed', message: 'no' });
  expect(firewalls.report().problems).toEqual([{ firewall: 'sion-red', message: 'no' }]);
  set('adminRule:rule-red', DONE);
  expect(firewalls.report()).toEqual({ applied: 'sion-red' });
});

it('a rule that comes back before it is gone is one that it has', () => {
  const { facts, firewalls, add, set } = setUp();
  add('red');
  firewalls.report();
  facts.set('adminRule', 'rule-red', undefined);
  facts.set('adminRule', 'rule-red', rule('red'));
  expect(firewalls.report()).toEqual({ applied: 'sion-red' });
  set('adminRule:rule-red', { kind: 'pending' });
  expect(firewalls.report()).toEqual({ applied: '' });
  set('adminRule:rule-red', DONE);
  expect(firewalls.report()).toEqual({ applied: 'sion-red' });
});

it('looks at what an event is about, and at nothing when a report is renewed', () => {
  const { firewalls, add, looked, set } = setUp();
  for (let index = 0; index < 500; index += 1) add(`f${index}`);
  expect(firewalls.report().applied.split(',')).toHaveLength(500);
  looked.length = 0;
  for (let renewal = 0; renewal < 10; renewal += 1) firewalls.report();
  set('adminRule:rule-f7', { kind: 'pending' });
  set('policy-rules:other', { kind: 'pending' });
  expect(firewalls.report().applied.split(',')).toHaveLength(499);
  expect(looked).toEqual(['adminRule:rule-f7']);
});

it('administrators’ policies are none', () => {
  const { facts, firewalls, touches } = setUp();
  facts.set('adminRule', 'a', { ...rule('x'), tier: 'admin', policy: 'AdminNetworkPolicy/keep' });
  facts.set('subjectSet', 's', { network: 'default', policy: 'AdminNetworkPolicy/keep', tier: 'admin', drops: [] });
  expect([firewalls.report(), touches()]).toEqual([{ applied: '' }, 0]);
});

it('its part of a report is bounded', () => {
  const { firewalls, add, versions, problems } = setUp();
  for (let index = 0; index < 2_100; index += 1) {
    add(`f${index}`, []);
    versions.set(policyOf(`f${index}`), String(10_000_000 + index));
    if (index < 50) problems.set(policyOf(`f${index}`), 'no room');
  }
  const report = firewalls.report();
  expect([report.applied.split(',').length, report.problems?.length]).toEqual([2_000, 20]);
  const status = { rendering: 'Always', networks: { ready: 0, pending: 0, failed: 0 }, firewalls: report };
  expect(reportStatusSchema.safeParse({ ...status, ids: { ready: '', pending: '', failed: '' } }).success).toBe(true);
});
