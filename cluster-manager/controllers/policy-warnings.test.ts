import { afterEach, expect, it, vi } from 'vitest';
import { ADMIN_POLICIES } from '../../api/admin-network-policy.ts';
import { POLICY_FOR_ANNOTATION } from '../../api/multi-network-policy.ts';
import { MULTI_NETWORK_POLICIES } from '../../api/resources.ts';
import { KubeError } from '../../kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NETWORK_POLICIES } from '../../kube/resources.ts';
import { definitionOf } from '../../kube/testing/definition-of.ts';
import type { KubeClient } from '../../kube/types.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { layer2Udn, tenant } from '../testing/objects.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const deny = { metadata: { namespace: 'ns', name: 'deny' }, spec: { podSelector: {} } };
const told = () => cluster.events.filter(({ reason }) => reason === 'PolicyUnreadable');

it('a MultiNetworkPolicy has an event where its annotation names no network, or cannot be read', async () => {
  cluster = await createTestCluster();
  await cluster.create(tenant('ns'));
  await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definitionOf(MULTI_NETWORK_POLICIES));
  await vi.waitFor(() => cluster.client.create(MULTI_NETWORK_POLICIES, deny));
  const named = (name: string, policyFor: string, spec: object = deny.spec) =>
    cluster.client.create(MULTI_NETWORK_POLICIES, {
      ...{ metadata: { namespace: 'ns', name, annotations: { [POLICY_FOR_ANNOTATION]: policyFor } }, spec },
    });
  await named('good', 'flat, other/flat');
  await named('bad', 'flat, a b');
  await named('worse', 'flat', { podSelector: {}, ingress: [{ from: [{}] }] });
  cluster.start();
  await vi.waitFor(() => expect(told()).toHaveLength(3));
  const { kind } = MULTI_NETWORK_POLICIES;
  const texts = told().map(({ regarding, message }) => [regarding.kind, regarding.apiVersion, regarding.name, message]);
  expect(texts.sort()).toEqual(
    [
      [
        'bad',
        'metadata.annotations["k8s.v1.cni.cncf.io/policy-for"]: [1]: "a b" is not NAME or NAMESPACE/NAME of a NAD; the policy isolates its pods and allows nothing',
      ],
      ['deny', 'it is for no network: no annotation k8s.v1.cni.cncf.io/policy-for names one'],
      [
        'worse',
        expect.stringMatching(/^spec\.ingress\[0\]\.from\[0\].*; the policy isolates its pods and allows nothing$/),
      ],
    ].map((one) => [kind, 'k8s.cni.cncf.io/v1beta1', ...one]),
  );
  // Another change of it is no news; another one of its name is.
  const ref = { namespace: 'ns', name: 'deny' };
  await cluster.client.patch(MULTI_NETWORK_POLICIES, ref, {
    type: 'merge',
    body: { metadata: { labels: { a: 'b' } } },
  });
  await cluster.client.delete(MULTI_NETWORK_POLICIES, ref);
  await cluster.client.create(MULTI_NETWORK_POLICIES, deny);
  await vi.waitFor(() => expect(told()).toHaveLength(4));
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
  await vi.waitFor(() => expect(told()).toHaveLength(1));
  expect(told()).toEqual([
    {
      regarding: expect.objectContaining({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', ...ref }),
      type: 'Warning',
      reason: 'PolicyUnreadable',
      message: expect.stringMatching(/podSelector.*; the policy isolates its pods and allows nothing$/),
    },
  ]);
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
  await vi.waitFor(() => expect(told()).toHaveLength(2));
  expect(
    told()
      .map(({ regarding, message }) => [regarding.name, message])
      .sort(),
  ).toEqual([
    ['a', expect.stringMatching(/^spec\.egress\[0\]: .*; the rule denies everything$/)],
    ['b', 'spec.priority: is required; its subjects or its place in the order are unknown, and it is not enforced'],
  ]);
});

it('a cluster manager that may not read policies works all the same', async () => {
  const forbidden = new KubeError('ERR_KUBE_STATUS', 'policies are forbidden', { status: 403 });
  const plurals: string[] = [MULTI_NETWORK_POLICIES.plural, NETWORK_POLICIES.plural];
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
