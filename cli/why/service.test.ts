import { expect, it } from 'vitest';
import { why } from './subject.ts';
import { NOW, scene } from './testing/objects.ts';
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

it('is served as before on nodes that report nothing, or whose daemons do not follow, which are named', () => {
  const renewTime = (agoMs: number) => new Date(NOW - agoMs).toISOString();
  const report = (name: string, status: object) => ({
    ...{ kind: 'NodeNetworkReport', metadata: { name, uid: name } },
    status: {
      ...{ rendering: 'Always', networks: { ready: 1, pending: 0, failed: 0 }, failedComponents: [] },
      ...{ ids: { ready: '0-1', pending: '', failed: '' }, renewTime: renewTime(10_000), leaseDurationSeconds: 40 },
      ...status,
    },
  });
  const failedComponents = [{ component: 'ovn-northd', message: 'ovn-northd hangs', since: renewTime(20_000) }];
  const { isReady, findings } = ask(
    ...[service(), pod('a', 'True'), mirror(['10.100.0.3'], HTTP, DNS), report('n0', {})],
    ...[report('n1', { failedComponents }), report('n2', { renewTime: renewTime(60_000) })],
  );
  expect(isReady).toBe(true);
  expect(findings.filter(({ state }) => state === 'warning')).toMatchObject([
    { what: 'node n1', found: 'ovn-northd hangs' },
    { what: 'node n2', found: expect.stringMatching(/^udn-agent does not renew its report/) },
  ]);
});
