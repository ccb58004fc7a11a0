import { afterEach, expect, it, vi } from 'vitest';
import { UNENFORCED_POLICIES } from '../../api/policy.ts';
import { KubeError } from '../../kube/errors.ts';
import { NETWORK_POLICIES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { layer2Udn, tenant } from '../testing/objects.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const deny = { metadata: { namespace: 'ns', name: 'deny' }, spec: { podSelector: {} } };
const told = () => cluster.events.filter(({ reason }) => reason === 'PolicyNotEnforced');

it('each policy has an event that says that nothing enforces it', async () => {
  cluster = await createTestCluster();
  await cluster.create(tenant('ns'));
  await cluster.client.create(NETWORK_POLICIES, deny);
  cluster.start();
  await vi.waitFor(() => expect(told()).toHaveLength(1));
  expect(told()).toEqual([
    {
      regarding: expect.objectContaining({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        namespace: 'ns',
        name: 'deny',
      }),
      type: 'Warning',
      reason: 'PolicyNotEnforced',
      message: 'ovn-udn does not enforce a NetworkPolicy: traffic that it denies is allowed',
    },
  ]);
  // Another change of it is no news; another one of its name is.
  const ref = { namespace: 'ns', name: 'deny' };
  await cluster.client.patch(NETWORK_POLICIES, ref, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
  await cluster.client.delete(NETWORK_POLICIES, ref);
  await cluster.client.create(NETWORK_POLICIES, deny);
  await vi.waitFor(() => expect(told()).toHaveLength(2));
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
