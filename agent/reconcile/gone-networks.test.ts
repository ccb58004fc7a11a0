import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { LocalSettings } from '../model/view.ts';
import { TestCluster } from '../testing/cluster.ts';
import { GoneNetworks, type GoneNetworksOptions } from './gone-networks.ts';

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
  const taken = openGate();
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
  const whenTakenAway = async (): Promise<void> => {
    if (broken.has('rows')) throw new Error('northd is not there');
    await taken.passed();
  };
  const networks = new GoneNetworks({ facts: cluster.facts, settings, conntrack, whenTakenAway, clock, onError });
  const reported: number[] = [];
  networks.onGone((id) => void reported.push(id));
  return { cluster, clock, flushed, errors, broken, gate, taken, networks, reported };
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
] as const)('of a network that leaves this node only, rendered %s', async (rendering, expected) => {
  const { cluster, flushed, clock } = setup(rendering);
  cluster.network('red', RED).facts.set('networkInUse', 'red', true);
  cluster.facts.set('networkInUse', 'red', undefined);
  await clock.advance(0);
  expect(flushed).toEqual(expected);
});

it('what cannot be done now is done later, whoever has the id by then', async () => {
  const { cluster, flushed, clock, errors, broken, networks, reported } = setup();
  await clock.advance(0);
  broken.add('marks');
  cluster.network('red', RED).network('blue', { ...RED, id: 2, namespace: 'blue' });
  cluster.facts.set('network', 'red', undefined);
  cluster.facts.set('network', 'blue', undefined);
  await clock.advance(0);
  expect(errors.sort()).toEqual(['blue', 'red']);
  expect([...networks.leaving]).toEqual([
    [1, 'red'],
    [2, 'blue'],
  ]);
  broken.clear();
  cluster.network('green', { ...RED, namespace: 'green' });
  await clock.advance(10_000);
  expect(flushed.filter((one) => one.startsWith('64000'))).toEqual(['64000 4', '64000 5']);
  expect([networks.leaving.size, reported]).toEqual([0, [0, 1, 2]]);
});

it('nothing is forgotten, nor is the id free, before all else is taken away', async () => {
  const { cluster, flushed, clock, errors, broken, networks, taken } = setup();
  await clock.advance(0);
  taken.close();
  cluster.network('red', RED).facts.set('network', 'red', undefined);
  await clock.advance(60_000);
  expect([flushed, [...networks.leaving.keys()]]).toEqual([[], [1]]);
  broken.add('rows');
  taken.open();
  cluster.network('blue', { ...RED, id: 2, namespace: 'blue' }).facts.set('network', 'blue', undefined);
  await clock.advance(0);
  expect([errors, [...networks.leaving.keys()]]).toEqual([['blue'], [2]]);
  broken.clear();
  await clock.advance(10_000);
  expect([flushed.length, networks.leaving.size]).toEqual([10, 0]);
});

it('one after the other; what is back by its turn keeps its connections', async () => {
  const { cluster, flushed, clock, gate } = setup();
  await clock.advance(0);
  for (const [index, name] of ['red', 'blue', 'green'].entries()) {
    cluster.network(name, { ...RED, id: index + 1, namespace: name });
  }
  gate.close();
  for (const name of ['red', 'blue', 'green']) cluster.facts.set('network', name, undefined);
  await clock.advance(0);
  expect(flushed).toEqual(['64000 4']);
  cluster.network('blue', { ...RED, id: 2, namespace: 'blue' });
  gate.open();
  await clock.advance(0);
  expect(flushed.filter((one) => one.includes(' '))).toEqual(
    [4, 6].flatMap((mark) => [64_000, 64_001, 64_002].map((zone) => `${zone} ${mark}`)),
  );
});

it('a network that has another id from now on leaves what it had under the first', async () => {
  const { cluster, flushed, clock, networks } = setup();
  cluster.network('red', RED).facts.set('network', 'red', undefined);
  cluster.network('red', { ...RED, id: 2 });
  expect([...networks.leaving]).toEqual([[1, 'red']]);
  await clock.advance(0);
  expect(flushed).toContain('64000 4');
  expect(flushed).not.toContain('64000 5');
});

it('what was left while the agent was away is known once all that no owner desires is taken away', async () => {
  const { broken, clock, networks, reported } = setup('always', new TestCluster('n1'), [4]);
  broken.add('rows');
  await clock.advance(0);
  expect(networks.isKnown).toBe(false);
  broken.clear();
  await clock.advance(10_000);
  expect([networks.isKnown, networks.leaving.size, reported]).toEqual([true, 0, [0, 1]]);
});

it('nothing is begun any more once it is ended', async () => {
  const { cluster, flushed, clock, gate, networks } = setup();
  cluster.network('red', RED).network('blue', { ...RED, id: 2, namespace: 'blue' });
  gate.close();
  for (const name of ['red', 'blue']) cluster.facts.set('network', name, undefined);
  networks.stop();
  gate.open();
  await clock.advance(10_000);
  expect(flushed.filter((one) => one.endsWith(' 5'))).toEqual([]);
});
