import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import type { Conntrack } from '../../datapath/conntrack/conntrack.ts';
import { createFakeClock } from '../../kube/fake-clock.ts';
import { TestCluster } from '../testing/cluster.ts';
import { forgetGoneNetworks } from './gone-networks.ts';

const RED = { id: 1, topology: 'layer3', subnets: ['10.0.0.0/16'], namespace: 'red', nad: 'net' } as const;

const setup = () => {
  const cluster = new TestCluster('n1');
  const clock = createFakeClock();
  const flushed: string[] = [];
  const errors: string[] = [];
  const broken = new Set<string>();
  const conntrack: Conntrack = {
    flushMark: (zone, mark) => {
      if (broken.has('marks')) return Promise.reject(new Error('ovs-vswitchd is not there'));
      flushed.push(`${zone} ${mark}`);
      return Promise.resolve();
    },
    flushAddress: (address) => {
      flushed.push(address);
      return Promise.resolve(true);
    },
  };
  const settings = { cluster: parseClusterConfig() };
  const onError = (network: string): void => void errors.push(network);
  const stop = forgetGoneNetworks({ facts: cluster.facts, settings, conntrack, clock, onError });
  return { cluster, clock, flushed, errors, broken, stop };
};

it('the connections of a network that is gone are forgotten, by its mark and its addresses', async () => {
  const { cluster, flushed, clock } = setup();
  cluster.network('red', RED);
  expect(flushed).toEqual([]);
  cluster.facts.set('network', 'red', undefined);
  await clock.advance(0);
  expect(flushed).toEqual(['64000 4', '64001 4', '64002 4', '169.254.0.12', 'fd69::c']);
});

it('what cannot be done now is done later, unless somebody else has the id by then', async () => {
  const { cluster, flushed, clock, errors, broken } = setup();
  broken.add('marks');
  cluster.network('red', RED).network('blue', { ...RED, id: 2, namespace: 'blue' });
  cluster.facts.set('network', 'red', undefined);
  cluster.facts.set('network', 'blue', undefined);
  await clock.advance(0);
  expect(errors.sort()).toEqual(['blue', 'red']);
  broken.clear();
  cluster.network('green', { ...RED, namespace: 'green' });
  await clock.advance(10_000);
  expect(flushed.filter((one) => one.includes(' '))).toEqual(['64000 5', '64001 5', '64002 5']);
});
