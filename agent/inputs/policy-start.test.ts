/** Policies that are there when the agent starts, against the same that come one after the other. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { FactKind } from '../model/facts.ts';
import { TestCluster } from '../testing/cluster.ts';
import { PolicyWorld, worldPod } from '../testing/policy-world.ts';
import type { AdminProjection } from './policies/admin/admin-projection.ts';
import type { PolicyNode } from './policies/admin/node-peers.ts';
import { DomainTable } from './policies/domain-table.ts';
import { PolicyBudgets } from './policies/policy-budgets.ts';
import { projectPolicy } from './policies/policy-projection.ts';
import type { PolicyNamespace, PolicyPod, PolicyProjection } from './policies/types.ts';
import { PolicyKeeper } from './policy-keeper.ts';

const KINDS = ['policyRule', 'peerSet', 'denyGroup', 'podPolicy', 'decidedPod', 'policyPeer'] as const;
const POLICIES = 20;

/** Each of them lets in the pods of both namespaces, at a port of its own. */
const policy = (number: number): PolicyProjection => {
  const ingress = [{ from: [{ namespaceSelector: {} }], ports: [{ port: 1000 + number }] }];
  const metadata = { namespace: number % 2 === 0 ? 'red' : 'blue', name: `p${number}` };
  return projectPolicy({ metadata, ...{ spec: { podSelector: {}, ingress } } });
};

const setUp = () => {
  const { facts } = new PolicyWorld();
  const clock = createFakeClock();
  const admin = createStaticCache<AdminProjection>();
  const policies = createStaticCache<PolicyProjection>();
  const pods = createStaticCache<PolicyPod>();
  const namespaces = createStaticCache<PolicyNamespace>();
  for (const name of ['red', 'blue']) {
    namespaces.set(name, { name, labels: {}, problems: [] });
    facts.set('namespace', name, { name, wantsPrimaryNetwork: false });
    pods.set(`${name}/here`, worldPod(`${name}/here`, { ips: { default: [`10.128.0.${name.length}`] } }));
    const far = { isLocal: false, ips: { default: [`10.129.0.${name.length}`] } };
    pods.set(`${name}/far`, worldPod(`${name}/far`, far));
  }
  const caches = {
    policies,
    pods,
    namespaces,
    nodes: createStaticCache<PolicyNode>(),
    admin: { AdminNetworkPolicy: admin },
  };
  const follow = (): PolicyKeeper => {
    const { settings } = new TestCluster('node1');
    return new PolicyKeeper({ facts, settings, domains: new DomainTable(facts), caches, clock });
  };
  const come = (): void => {
    for (let number = 0; number < POLICIES; number += 1) {
      const projection = policy(number);
      policies.set(`${projection.policy.namespace}/${projection.policy.name}`, projection);
    }
  };
  return { facts, clock, follow, come };
};

const factsOf = (facts: FactStore) =>
  Object.fromEntries(
    KINDS.map((kind: FactKind) => [kind, new Map([...facts.ids(kind)].sort().map((id) => [id, facts.get(kind, id)]))]),
  );

afterEach(() => {
  vi.restoreAllMocks();
});

describe('policies that are there at the start', () => {
  it('are as those that come one after the other, and each pod is written once', () => {
    const early = setUp();
    const written: string[] = [];
    early.facts.listenBare(({ id }) => written.push(id));
    early.come();
    early.follow();
    const late = setUp();
    const keeper = late.follow();
    late.come();
    keeper.release();
    expect(factsOf(early.facts)).toEqual(factsOf(late.facts));
    expect(early.facts.get('podPolicy', 'red/here')?.rules).toHaveLength(POLICIES / 2);
    expect(written.sort()).toEqual(['blue/far', 'blue/here', 'red/far', 'red/here']);
  });

  it('close the pods that they may be about where they cannot be settled, and open them when they can', async () => {
    const { facts, clock, follow, come } = setUp();
    come();
    vi.spyOn(PolicyBudgets.prototype, 'settle').mockImplementationOnce(() => {
      throw new RangeError('Maximum call stack size exceeded');
    });
    const keeper = follow();
    expect(keeper.failed()).toMatchObject([{ object: 'NetworkPolicy/red/p0' }]);
    expect(facts.get('podPolicy', 'red/here')).toMatchObject({ isolated: ['Ingress', 'Egress'], rules: [] });
    expect(facts.get('podPolicy', 'blue/here')?.rules).toHaveLength(POLICIES / 2);
    await clock.advance(1000);
    expect(keeper.failed()).toEqual([]);
    expect(facts.get('podPolicy', 'red/here')).toMatchObject({ isolated: ['Ingress'] });
    expect(facts.get('podPolicy', 'red/here')?.rules).toHaveLength(POLICIES / 2);
  });
});
