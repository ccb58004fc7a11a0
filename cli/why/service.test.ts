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
