import { expect, it } from 'vitest';
import { why } from './subject.ts';
import { scene } from './testing/objects.ts';
import { CLUSTER, DNS, HTTP, mirror, selectedPod as pod, SERVICE, service } from './testing/service-cases.ts';

const ask = (...objects: readonly unknown[]) => why(SERVICE, scene([...CLUSTER, ...objects]));

it('is served when every port of every ClusterIP has endpoints', () => {
  expect(ask(service(), pod('a', 'True'), mirror(['10.100.0.3'], HTTP, DNS))).toMatchObject({
    isReady: true,
    summary: 'service red/web is served',
  });
});

it('names pods that are not ready beside those that are', () => {
  const { isReady, findings } = ask(service(), pod('a', 'True'), pod('b', 'False'), mirror(['10.100.0.3'], HTTP, DNS));
  expect(isReady).toBe(true);
  expect(findings).toContainEqual({ what: 'pods', state: 'warning', found: '1 of 2 selected are not ready: red/b' });
});

it('needs nothing on nodes when it is a name', () => {
  expect(ask(service({ type: 'ExternalName', clusterIPs: [], externalName: 'example.com' })).summary).toBe(
    'service red/web needs nothing on nodes',
  );
});

it('is unknown where the user may not read', () => {
  const unread = [
    { resource: 'endpointslices', what: 'endpointslices of namespace red', why: 'you may not list them' },
  ];
  const { summary } = why(SERVICE, scene([...CLUSTER, service()], { unread }));
  expect(summary).toBe('service red/web is served, as far as could be read');
});

it('names policies of its namespace that nothing enforces', () => {
  const policy = {
    kind: 'MultiNetworkPolicy',
    apiVersion: 'k8s.cni.cncf.io/v1beta1',
    uid: 'u',
    podSelector: undefined,
  };
  const policies = [
    { ...policy, namespace: 'red', name: 'deny' },
    { ...policy, namespace: 'blue', name: 'deny' },
    { ...policy, kind: 'AdminNetworkPolicy', namespace: undefined, name: 'all' },
  ];
  const objects = [...CLUSTER, service(), pod('a', 'True'), mirror(['10.100.0.3'], HTTP, DNS)];
  const { isReady, findings } = why(SERVICE, scene(objects, { policies }));
  expect(isReady).toBe(true);
  expect(findings).toContainEqual({
    ...{ what: 'policies', state: 'warning' },
    found: 'ovn-udn does not enforce MultiNetworkPolicy red/deny, AdminNetworkPolicy all: what they deny is allowed',
  });
  const name = service({ type: 'ExternalName', clusterIPs: [], externalName: 'example.com' });
  expect(why(SERVICE, scene([...CLUSTER, name], { policies })).findings).toHaveLength(1);
});
