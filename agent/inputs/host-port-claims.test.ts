import { expect, it } from 'vitest';
import type { KubeObject } from '../../kube/types.ts';
import { TestCluster } from '../testing/cluster.ts';
import { PodIndex } from './pod-index.ts';
import { type PodProjection, projectPod } from './pod-projection.ts';

const podWith = (name: string, second: number, ports: readonly object[], rest: object = {}): KubeObject =>
  ({
    metadata: {
      ...{ name, namespace: 'plain', uid: `uid-${name}`, resourceVersion: '1' },
      creationTimestamp: `2026-01-01T00:00:0${second}Z`,
    },
    spec: { nodeName: 'node1', containers: [{ ports }], ...rest },
  }) as unknown as KubeObject;

const setUp = () => {
  const { facts, settings } = new TestCluster('node1').node('node1').namespace('plain');
  const mirror = new Map<string, PodProjection>();
  const index = new PodIndex(
    facts,
    settings,
    (key) => mirror.get(key),
    () => 'default',
  );
  const change = (name: string, object?: KubeObject): void => {
    const after = object && projectPod(object, 'node1');
    if (after === undefined) mirror.delete(`plain/${name}`);
    else mirror.set(`plain/${name}`, after);
    index.change(`plain/${name}`, after);
  };
  const claimsAt = (id: string) => facts.get('hostPortClaims', id)?.map(({ pod, hostIp = '' }) => `${pod} ${hostIp}`);
  return { change, claimsAt };
};

const HTTP = { containerPort: 8080, hostPort: 80 };

it.each([
  ['older', 'younger'],
  ['younger', 'older'],
])('pods that ask for a port are known, the oldest first, whichever comes first: %s', (...order) => {
  const { change, claimsAt } = setUp();
  const pods: Readonly<Record<string, KubeObject>> = {
    older: podWith('older', 1, [HTTP], { hostNetwork: true }),
    younger: podWith('younger', 2, [HTTP, { ...HTTP, hostIP: '172.30.0.2' }, { ...HTTP, protocol: 'UDP' }]),
  };
  for (const name of order) change(name, pods[name]);
  expect(claimsAt('TCP/80')).toEqual(['plain/older ', 'plain/younger ', 'plain/younger 172.30.0.2']);
  expect(claimsAt('UDP/80')).toEqual(['plain/younger ']);
  change('younger', undefined);
  expect([claimsAt('TCP/80'), claimsAt('UDP/80')]).toEqual([['plain/older '], undefined]);
});

it('a pod that has finished, or runs on another node, asks for none', () => {
  const { change, claimsAt } = setUp();
  change('a', podWith('a', 1, [HTTP]));
  expect(claimsAt('TCP/80')).toEqual(['plain/a ']);
  change('a', { ...podWith('a', 1, [HTTP]), status: { phase: 'Succeeded' } });
  expect(claimsAt('TCP/80')).toBeUndefined();
  change('b', podWith('b', 1, [HTTP], { nodeName: 'node2' }));
  expect(claimsAt('TCP/80')).toBeUndefined();
});
