import { describe, expect, it } from 'vitest';
import { PolicyWorld } from '../../testing/policy-world.ts';

const subject = { namespaces: { matchLabels: { tier: 'gold' } } };
const DENY = { priority: 1, subject, ingress: [{ action: 'Deny', from: [{ namespaces: {} }] }] };
const X = { ips: { default: ['10.128.0.6'] } };
const SUBJECT = { isolated: [], subjects: [expect.any(String)] };

const worldWithPolicy = () => new PolicyWorld().adminPolicy('AdminNetworkPolicy', 'd', DENY);

describe('a pod whose namespace is not known', () => {
  it('is not decided until it is', () => {
    const world = worldWithPolicy().pod('n/x', X);
    expect(world.facts.get('decidedPod', 'n/x')).toBeUndefined();
    world.pod('n/x', { ...X, labels: { a: 'b' } });
    expect(world.facts.get('decidedPod', 'n/x')).toBeUndefined();
    world.namespace('n', { tier: 'gold' });
    expect(world.facts.get('decidedPod', 'n/x')).toBe(true);
    expect(world.facts.get('podPolicy', 'n/x')).toMatchObject(SUBJECT);
  });

  it('waits only while administrators have policies', () => {
    const world = new PolicyWorld().pod('n/x', X);
    expect(world.facts.get('decidedPod', 'n/x')).toBe(true);
    world.adminPolicy('BaselineAdminNetworkPolicy', 'default', { subject, ingress: DENY.ingress });
    expect(world.facts.get('decidedPod', 'n/x')).toBeUndefined();
    world.adminPolicy('BaselineAdminNetworkPolicy', 'default', undefined);
    expect(world.facts.get('decidedPod', 'n/x')).toBe(true);
  });

  it('is decided when one of its name comes back from another node', () => {
    const world = worldWithPolicy()
      .pod('n/x', X)
      .pod('n/x', { ...X, isLocal: false })
      .namespace('n', {})
      .pod('n/x', X);
    expect(world.facts.get('decidedPod', 'n/x')).toBe(true);
  });

  it('is gone without a trace', () => {
    const world = worldWithPolicy().pod('n/x', X).pod('n/x', undefined).namespace('n', { tier: 'gold' });
    for (const kind of ['decidedPod', 'podPolicy', 'subjectSet'] as const)
      expect([...world.facts.ids(kind)]).toEqual([]);
  });

  it('stays a subject by its last labels when the namespace goes before it', () => {
    const world = worldWithPolicy().namespace('n', { tier: 'gold' }).pod('n/x', X).namespace('n', undefined);
    world.pod('n/y', { ips: { default: ['10.128.0.7'] } });
    for (const key of ['n/x', 'n/y']) {
      expect(world.facts.get('decidedPod', key)).toBe(true);
      expect(world.facts.get('podPolicy', key)).toMatchObject(SUBJECT);
    }
    world.pod('n/x', undefined).pod('n/y', undefined).pod('n/z', X);
    expect(world.facts.get('decidedPod', 'n/z')).toBeUndefined();
    expect([...world.facts.ids('adminRule')]).toEqual([]);
    world.namespace('n', {});
    expect(world.facts.get('decidedPod', 'n/z')).toBe(true);
    expect(world.facts.get('podPolicy', 'n/z')).toBeUndefined();
  });
});
