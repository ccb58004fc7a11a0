import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { createFakeClock } from '../../kube/fake-clock.ts';
import type { LocalSettings } from '../model/view.ts';
import { TestCluster } from '../testing/cluster.ts';
import { forgetGoneNetworks, type GoneNetworksOptions } from './gone-networks.ts';

const RED = { id: 1, topology: 'layer3', subnets: ['10.0.0.0/16'], namespace: 'red', nad: 'net' } as const;

const setup = (
  networkRendering: LocalSettings['networkRendering'] = 'always',
  cluster: TestCluster = new TestCluster('n1'),
  marks: readonly number[] = [],
) => {
  const clock = createFakeClock();
  const flushed: string[] = [];
  const errors: string[] = [];
  const broken = new Set<string>();
  const gate = openGate();
  const conntrack: GoneNetworksOptions['conntrack'] = {
    marks: () => Promise.resolve(new Map(marks.map((mark) => [mark, 1]))),
    flushMark: async (zone, mark) => {
      if (broken.has('marks')) throw new Error('ovs-vswitchd is not there');
      flushed.push(`${zone} ${mark}`);
      await gate.passed();
    },
    flushAddress: (address) => {
      flushed.push(address);
      return Promise.resolve(true);
    },
  };
  const settings = { cluster: parseClusterConfig(), networkRendering };
  const onError = (network: string): void => void errors.push(network);
  const stop = forgetGoneNetworks({ facts: cluster.facts, settings, conntrack, clock, onError });
  return { cluster, clock, flushed, errors, broken, gate, stop };
};

/** Where what is forgotten waits while it is closed. */
const openGate = (): { close(): void; open(): void; passed(): Promise<void> } => {
  let closed = Promise.withResolvers<void>();
  closed.resolve();
  return {
    close: () => {
      closed = Promise.withResolvers<void>();
    },
    open: () => closed.resolve(),
    passed: () => closed.promise,
  };
};

it('the connections of a network that is gone are forgotten, by its mark and its addresses', async () => {
  const { cluster, flushed, clock } = setup();
  cluster.network('red', RED);
  expect(flushed).toEqual([]);
  cluster.facts.set('network', 'red', undefined);
  await clock.advance(0);
  expect(flushed).toEqual(['64000 4', '64001 4', '64002 4', '169.254.0.12', 'fd69::c']);
});

it('also of one that was there before, as after a restart of the agent', async () => {
  const { cluster, flushed, clock } = setup('always', new TestCluster('n1').network('red', RED));
  cluster.facts.set('network', 'red', undefined);
  await clock.advance(0);
  expect(flushed).toContain('64000 4');
});

it('and those that went while the agent was away, by the marks that are left', async () => {
  const { flushed, clock } = setup('always', new TestCluster('n1').network('red', RED), [1, 2, 3, 4, 6, 9_999, 0x3f0]);
  await clock.advance(0);
  expect(flushed.filter((one) => one.startsWith('64000'))).toEqual(['64000 6', '64000 1008']);
});

it.each([
  ['on-demand', ['64000 4', '64001 4', '64002 4', '169.254.0.12', 'fd69::c']],
  ['always', []],
] as const)('of a network that leaves this node only, rendered %s', async (rendering, wanted) => {
  const { cluster, flushed, clock } = setup(rendering);
  cluster.network('red', RED).facts.set('networkInUse', 'red', true);
  cluster.facts.set('networkInUse', 'red', undefined);
  await clock.advance(0);
  expect(flushed).toEqual(wanted);
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

it('what fails when somebody else has the id already is not done later', async () => {
  const { cluster, flushed, errors, broken, gate, clock } = setup();
  cluster.network('red', RED);
  gate.close();
  cluster.facts.set('network', 'red', undefined);
  cluster.network('blue', { ...RED, namespace: 'blue' });
  broken.add('marks');
  gate.open();
  await clock.advance(0);
  expect(errors).toEqual(['red']);
  broken.clear();
  await clock.advance(60_000);
  expect(flushed).toEqual(['64000 4']);
});

it('one network after the other, and none whose id has a new owner by its turn', async () => {
  const { cluster, flushed, clock, gate } = setup();
  for (const [index, name] of ['red', 'blue', 'green'].entries()) {
    cluster.network(name, { ...RED, id: index + 1, namespace: name });
  }
  gate.close();
  for (const name of ['red', 'blue', 'green']) cluster.facts.set('network', name, undefined);
  await clock.advance(0);
  expect(flushed).toEqual(['64000 4']);
  cluster.network('next', { ...RED, id: 2, namespace: 'next' });
  gate.open();
  await clock.advance(0);
  expect(flushed.filter((one) => one.includes(' '))).toEqual(
    [4, 6].flatMap((mark) => [64_000, 64_001, 64_002].map((zone) => `${zone} ${mark}`)),
  );
});

it('nothing is begun any more once it is ended', async () => {
  const { cluster, flushed, clock, gate, stop } = setup();
  cluster.network('red', RED).network('blue', { ...RED, id: 2, namespace: 'blue' });
  gate.close();
  for (const name of ['red', 'blue']) cluster.facts.set('network', name, undefined);
  stop();
  gate.open();
  await clock.advance(10_000);
  expect(flushed.filter((one) => one.endsWith(' 5'))).toEqual([]);
});
