import { expect, it } from 'vitest';
import { readPod } from './pod-spec.ts';
import { resolvConf } from './resolv-conf.ts';

const CLUSTER = ['10.96.0.10', 'fd00:10:96::a'];
const of = (spec: object, clusterDns: readonly string[] = CLUSTER): string | undefined =>
  resolvConf(
    readPod({
      metadata: { name: 'p', namespace: 'red', uid: 'u', resourceVersion: '1' },
      spec: { containers: [{ name: 'c' }], ...spec },
    }),
    clusterDns,
  );

it('asks the cluster first, with short names of its namespace', () => {
  expect(of({})).toBe(
    [
      'search red.svc.cluster.local svc.cluster.local cluster.local',
      'nameserver 10.96.0.10',
      'nameserver fd00:10:96::a',
      'options ndots:5',
      '',
    ].join('\n'),
  );
});

it('is what the pod says', () => {
  expect(of({ dnsPolicy: 'None', dnsConfig: { nameservers: ['203.0.113.53'], searches: ['svc.cluster.local'] } })).toBe(
    'search svc.cluster.local\nnameserver 203.0.113.53\n',
  );
});

it.each([
  ['a pod of the node’s network', { hostNetwork: true }],
  ['a pod that wants it so', { dnsPolicy: 'Default' }],
])('is the node’s for %s', (_, spec) => {
  expect(of(spec)).toBeUndefined();
});

it('is the node’s in a cluster without a DNS server', () => {
  expect(of({}, [])).toBeUndefined();
});
