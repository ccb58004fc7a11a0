import { expect, it } from 'vitest';
import { parsePodNetworks } from '../../api/annotations/pod-networks.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { liveCaches } from './live-caches.ts';
import { clusterPod, policyObjects } from './objects.ts';
import { tenantObjects } from './tenants.ts';

const SPEC = { namespaces: 10, podsOfEach: 5, policiesOfEach: 2, localOfEach: 2 };

it('every policy can be read: one that cannot would have no rules', () => {
  const { caches } = liveCaches(policyObjects(SPEC));
  const policies = [...caches.policies.policies.values()];
  expect(policies).toHaveLength(20);
  expect(policies.flatMap(({ problems }) => problems)).toEqual([]);
});

it('no two pods have an address in common', () => {
  const pods = policyObjects(SPEC).filter(({ kind }) => kind === 'Pod');
  expect(new Set(pods.map(addressOf)).size).toBe(50);
});

it('a pod that changes its number keeps its address', () => {
  expect(addressOf(clusterPod(SPEC, 3, 4, 1))).toBe(addressOf(clusterPod(SPEC, 3, 4)));
});

it('pods of both tenants can be read', () => {
  const { caches } = liveCaches(tenantObjects());
  expect([...caches.policies.pods.values()].filter(({ addresses }) => addresses.size !== 1)).toEqual([]);
  expect([...caches.pods.values()].flatMap(({ problems }) => problems)).toEqual([]);
});

const addressOf = ({ metadata: { annotations } }: ReturnType<typeof clusterPod>): unknown =>
  parsePodNetworks(annotations?.[POD_ANNOTATIONS.networks] ?? '{}', 'a pod').get('default')?.ipAddresses[0];
