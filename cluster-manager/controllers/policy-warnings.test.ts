import { afterEach, expect, it, vi } from 'vitest';
import { ADMIN_POLICIES } from '../../api/admin-network-policy.ts';
import { UNENFORCED_POLICIES } from '../../api/policy.ts';
import { KubeError } from '../../kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NETWORK_POLICIES } from '../../kube/resources.ts';
import { definitionOf } from '../../kube/testing/definition-of.ts';
import type { KubeClient } from '../../kube/types.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { layer2Udn, tenant } from '../testing/objects.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const deny = { metadata: { namespace: 'ns', name: 'deny' }, spec: { podSelector: {} } };
const told = (reason = 'PolicyNotEnforced') => cluster.events.filter((event) => event.reason === reason);

it('each policy has an event that says that nothing enforces it', async () => {
  cluster = await createTestCluster();
  await cluster.create(tenant('ns'));
  const multi = UNENFORCED_POLICIES.find(({ kind }) => kind === 'MultiNetworkPolicy');
  if (multi === undefined) throw new Error('no such kind');
  await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definitionOf(multi));
  await vi.waitFor(() => cluster.client.create(multi, deny));
  cluster.start();
  await vi.waitFor(() => expect(told()).toHaveLength(1));
  const { kind } = multi;
  expect(told()).toEqual([
    {
      regarding: expect.objectContaining({
        apiVersion: 'k8s.cni.cncf.io/v1beta1',
        kind,
        namespace: 'ns',
        name: 'deny',
      }),
      type: 'Warning',
      reason: 'PolicyNotEnforced',
      message: 'ovn-udn does not enforce a MultiNetworkPolicy: traffic that it denies is allowed',
    },
  ]);
  // Another change of it is no news; another one of its name is.
  const ref = { namespace: 'ns', name: 'deny' };
  await cluster.client.patch(multi, ref, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
  await cluster.client.delete(multi, ref);
  await cluster.client.create(multi, deny);
  await vi.waitFor(() => expect(told()).toHaveLength(2));
});

it('a policy that nobody can read has an event that says why, and one that is enforced has none', async () => {
  cluster = await createTestCluster();
  await cluster.create(tenant('ns'));
  const ref = { namespace: 'ns', name: 'bad' };
  const expressions = [{ key: 'a', operator: 'Like', values: ['b'] }];
  await cluster.client.create(NETWORK_POLICIES, deny);
  await cluster.client.create(NETWORK_POLICIES, {
    ...{ metadata: ref, spec: { podSelector: { matchExpressions: expressions } } },
  });
  cluster.start();
  await vi.waitFor(() => expect(told('PolicyUnreadable')).toHaveLength(1));
  expect(told('PolicyUnreadable')).toEqual([
    {
      regarding: expect.objectContaining({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', ...ref }),
      type: 'Warning',
      reason: 'PolicyUnreadable',
      message: expect.stringMatching(/podSelector.*; the policy isolates its pods and allows nothing$/),
    },
  ]);
  expect(told()).toEqual([]);
});

it('says which rules of an administrators’ policy are closed, and which policy is none', async () => {
  cluster = await createTestCluster();
  const [admin] = ADMIN_POLICIES;
  await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definitionOf(admin));
  const spec = { priority: 1, subject: { namespaces: {} }, egress: [{ action: 'Deny', to: [{ moons: {} }] }] };
  await vi.waitFor(() => cluster.client.create(admin, { metadata: { name: 'a' }, spec }));
  await cluster.client.create(admin, { metadata: { name: 'b' }, spec: { ...spec, priority: undefined } });
  await cluster.client.create(admin, { metadata: { name: 'c' }, spec: { ...spec, egress: [] } });
  cluster.start();
  await vi.waitFor(() => expect(told('PolicyUnreadable')).toHaveLength(2));
  expect(
    told('PolicyUnreadable')
      .map(({ regarding, message }) => [regarding.name, message])
      .sort(),
  ).toEqual([
    ['a', expect.stringMatching(/^spec\.egress\[0\]: .*; the rule denies everything$/)],
    ['b', 'spec.priority: is required; its subjects or its place in the order are unknown, and it is not enforced'],
  ]);
  expect(told()).toEqual([]);
});

it('a cluster manager that may not read policies works all the same', async () => {
  const forbidden = new KubeError('ERR_KUBE_STATUS', 'policies are forbidden', { status: 403 });
  const plurals = UNENFORCED_POLICIES.map(({ plural }): string => plural);
  const wire = (client: KubeClient): KubeClient => ({
    ...client,
    list: (resource, ...rest) =>
      plurals.includes(resource.plural) ? Promise.reject(forbidden) : client.list(resource, ...rest),
  });
  cluster = await createTestCluster({ wire });
  cluster.start();
  await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.2.0.0/16']));
  expect((await cluster.get('UserDefinedNetwork', 'ns/net'))?.['status']).toMatchObject({ networkID: 1 });
  expect(told()).toEqual([]);
});
