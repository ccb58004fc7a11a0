import { afterEach, expect, it, vi } from 'vitest';
import { POLICY_FOR_ANNOTATION } from '../../api/multi-network-policy.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import { attachmentId } from '../model/facts.ts';
import { MultiWorld } from '../testing/multi-world.ts';
import { worldPod } from '../testing/policy-world.ts';
import type { PolicyNode } from './policies/admin/node-peers.ts';
import { DomainTable } from './policies/domain-table.ts';
import { MultiIndex } from './policies/multi-index.ts';
import { type MultiProjection, projectMultiPolicy } from './policies/multi-projection.ts';
import { TargetTable } from './policies/target-table.ts';
import type { PolicyNamespace, PolicyPod, PolicyProjection } from './policies/types.ts';
import { PolicyKeeper } from './policy-keeper.ts';
import { POLICY_PACE_MS } from './policy-pace.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const FLAT = 'cluster_udn_flat';
const WEB = attachmentId('a/web', FLAT);

const setUp = () => {
  const clock = createFakeClock();
  const world = new MultiWorld().nad('a/flat');
  const multi = createStaticCache<MultiProjection>();
  const caches = {
    policies: createStaticCache<PolicyProjection>(),
    pods: createStaticCache<PolicyPod>(),
    namespaces: createStaticCache<PolicyNamespace>(),
    nodes: createStaticCache<PolicyNode>(),
    ...{ admin: {}, multi },
  };
  world.cluster.namespace('a');
  const { facts, cluster } = world;
  const keeper = new PolicyKeeper({
    ...{ facts, settings: cluster.settings, domains: new DomainTable(facts), caches, clock },
  });
  caches.namespaces.set('a', { name: 'a', labels: {}, problems: [] });
  caches.pods.set(
    'a/web',
    worldPod('a/web', { node: 'node1', ips: { default: ['10.128.0.3'], 'a/flat': ['10.1.0.3'] } }),
  );
  const apply = (): void => {
    const metadata = { namespace: 'a', name: 'p', annotations: { [POLICY_FOR_ANNOTATION]: 'flat' } };
    multi.set('a/p', projectMultiPolicy({ metadata, ...{ spec: { podSelector: {}, ingress: [{}] } } }));
  };
  return { clock, world, multi, keeper, facts, apply };
};

it('follows policies of both kinds, and a pod that both concern, without one changing the other', async () => {
  const { clock, facts, apply, multi, keeper } = setUp();
  expect(facts.get('decidedPod', 'a/web')).toBe(true);
  apply();
  expect(facts.get('podPolicy', WEB)?.rules).toHaveLength(2);
  expect(facts.get('podPolicy', 'a/web')).toBeUndefined();
  multi.remove('a/p');
  await clock.advance(POLICY_PACE_MS);
  expect([...facts.ids('decidedPod')]).toEqual(['a/web']);
  keeper.stop();
});

it('isolates an attachment that the agent fails to work out, says so, and makes all of it anew', async () => {
  const { clock, facts, world, apply, keeper } = setUp();
  const fails = vi.spyOn(TargetTable.prototype, 'join').mockImplementation(() => {
    throw new Error('it fails');
  });
  apply();
  expect(facts.get('podPolicy', WEB)).toMatchObject({ isolated: ['Ingress', 'Egress'], rules: [] });
  expect(facts.get('podPolicy', 'a/web')).toBeUndefined();
  expect(keeper.failed().map(({ object, message }) => `${object}: ${message}`)).toEqual([
    `MultiNetworkPolicy/a/p: on network ${FLAT}: what policies make of it could not be worked out (it fails): pods of its namespace are isolated and allowed nothing`,
  ]);
  fails.mockRestore();
  await clock.advance(1_500);
  expect([keeper.rebuilds, keeper.failed()]).toEqual([1, []]);
  expect(facts.get('podPolicy', WEB)).toMatchObject({
    isolated: ['Ingress'],
    rules: [expect.any(String), expect.any(String)],
  });
  // As if nothing had been.
  const fresh = setUp();
  fresh.apply();
  expect(world.made()).toEqual(fresh.world.made());
});

it('what escapes an index is made anew, too', async () => {
  const { clock, world, apply, keeper } = setUp();
  const fails = vi.spyOn(MultiIndex.prototype, 'changePolicy').mockImplementation(() => {
    throw new Error('it fails');
  });
  expect(apply).toThrow('it fails');
  fails.mockRestore();
  await clock.advance(1_500);
  expect(keeper.rebuilds).toBe(1);
  expect(world.facts.get('podPolicy', WEB)?.isolated).toEqual(['Ingress']);
});
