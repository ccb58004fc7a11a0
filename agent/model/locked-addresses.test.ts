import { expect, it } from 'vitest';
import { parseIp } from '../../net/ip.ts';
import { TestCluster } from '../testing/cluster.ts';

const cluster = () => {
  const it = new TestCluster('node1');
  const pod = (name: string, role: 'primary' | 'infrastructure-locked', more = {}): void => {
    it.pod(`red/${name}`, {
      node: 'node1',
      networks: { default: { ips: ['10.1.1.3/24', 'fd00:1::3/64'], role } },
      ...more,
    });
  };
  const locked = (): unknown[] => ['10.1.1.3', 'fd00:1::3'].map((ip) => it.facts.get('lockedAddress', parseIp(ip)));
  return { pod, locked, facts: it.facts };
};

it('addresses are locked as long as a pod that has a primary network has them', () => {
  const { pod, locked, facts } = cluster();
  pod('a', 'primary');
  expect(locked()).toEqual([undefined, undefined]);
  pod('a', 'infrastructure-locked');
  expect(locked()).toEqual([true, true]);
  pod('a', 'infrastructure-locked', { finished: true });
  expect(locked()).toEqual([undefined, undefined]);
  pod('b', 'infrastructure-locked');
  facts.set('pod', 'red/b', undefined);
  expect(locked()).toEqual([undefined, undefined]);
});

it('and when they go from one pod to the next, in whatever order that is heard of', () => {
  const { pod, locked, facts } = cluster();
  pod('a', 'infrastructure-locked');
  pod('b', 'infrastructure-locked');
  facts.set('pod', 'red/a', undefined);
  expect(locked()).toEqual([true, true]);
  pod('b', 'infrastructure-locked', { hostNetwork: true });
  expect(locked()).toEqual([undefined, undefined]);
});
