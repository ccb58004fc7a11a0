import { afterEach, describe, expect, it, vi } from 'vitest';
import { PolicyWorld } from '../../testing/policy-world.ts';
import { canonicalSelector } from './canonical-selector.ts';
import { PeerFiling } from './peer-filing.ts';
import { PeerTable } from './peer-table.ts';
import { Postings } from './postings.ts';
import { RuleTable } from './rule-table.ts';

const ALL = { podSelector: {} };
const CLOSED = { network: 'default', isolated: ['Ingress', 'Egress'], rules: [] };
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

  it('looks at more selections than a call has arguments', () => {
    const scope = { namespaces: canonicalSelector({}) };
    const selector = canonicalSelector({});
    const filing = new PeerFiling(new Map([['red', { name: 'red', labels: {}, problems: [] }]]));
    for (let index = 0; index < 150_000; index += 1)
      filing.add({ selection: { text: String(index), scope, selector }, selector });
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
