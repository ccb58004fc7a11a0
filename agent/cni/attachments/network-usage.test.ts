import { expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../base/testing/fake-clock.ts';
import { FactStore } from '../../model/fact-store.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { NetworkUsage, networksOfPorts } from './network-usage.ts';

const setup = (): { usage: NetworkUsage; clock: FakeClock; used: () => string[] } => {
  const [facts, clock] = [new FactStore(), createFakeClock()];
  const usage = new NetworkUsage({ facts, clock, graceMs: 1000 });
  return { usage, clock, used: () => [...facts.ids('networkInUse')].sort() };
};

it('a network is in use while something here uses it, and for a while longer', async () => {
  const { usage, clock, used } = setup();
  usage.set('a', ['red']);
  usage.set('b', ['red', 'blue']);
  expect(used()).toEqual(['blue', 'red']);
  usage.delete('a');
  await clock.advance(5000);
  expect(used()).toEqual(['blue', 'red']);
  usage.set('b', ['blue']);
  await clock.advance(999);
  expect(used()).toEqual(['blue', 'red']);
  await clock.advance(1);
  expect(used()).toEqual(['blue']);
  // Whoever comes back in time finds everything as it was.
  usage.delete('b');
  await clock.advance(500);
  usage.set('c', ['blue']);
  await clock.advance(5000);
  expect(used()).toEqual(['blue']);
  usage.delete('c');
  usage.stop();
  expect(clock.pending).toBe(0);
});

it('what the node has from before stays for as long as if its last user had just gone', async () => {
  const { usage, clock, used } = setup();
  usage.set('a', ['blue']);
  usage.linger(['red', 'blue', 'green']);
  expect(used()).toEqual(['blue', 'green', 'red']);
  await clock.advance(500);
  usage.set('b', ['green']);
  await clock.advance(500);
  expect(used()).toEqual(['blue', 'green']);
  await clock.advance(5000);
  expect(used()).toEqual(['blue', 'green']);
  usage.stop();
});

it('what the node has is seen by the ports that were made for it', () => {
  const cluster = new TestCluster('n1')
    .node('n1', { id: 2, subnets: { default: ['10.128.0.0/24'], red: ['10.1.0.0/24'] } })
    .network('red', { id: 1, topology: 'layer3', subnets: ['10.1.0.0/16'], namespace: 'red', nad: 'net' })
    .network('elsewhere', { id: 2, topology: 'layer3', subnets: ['10.2.0.0/16'], namespace: 'blue', nad: 'net' });
  cluster.render();
  const interfaces = [...cluster.sinks.openvswitch.fragments.values()].flatMap(({ patches = [] }) =>
    patches.flatMap(({ table, entries }) =>
      table === 'Interface' ? [{ external_ids: (entries as Ids | undefined)?.external_ids ?? {} }] : [],
    ),
  );
  expect(interfaces.length).toBeGreaterThan(1);
  expect([...networksOfPorts(interfaces)]).toEqual(['red']);
});

interface Ids {
  readonly external_ids?: Readonly<Record<string, string>>;
}

it('says among how many a network is shared, in powers of two', () => {
  const facts = new FactStore();
  const usage = new NetworkUsage({ facts, clock: createFakeClock(), graceMs: 0 });
  const seen: (number | undefined)[] = [];
  const change = (step: (name: string) => void): void => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      step(name);
      seen.push(facts.get('networkShares', 'red'));
    }
  };
  change((name) => usage.set(name, ['red']));
  change((name) => usage.delete(name));
  expect(seen).toEqual([undefined, 2, 4, 4, 8, 4, 4, 2, undefined, undefined]);
});

it('counts what a pod has of a network as often as it is attached, as each attachment has a zone of connections', () => {
  const facts = new FactStore();
  const usage = new NetworkUsage({ facts, clock: createFakeClock(), graceMs: 0 });
  const seen: (number | undefined)[] = [];
  const set = (user: string, networks: readonly string[]): void => {
    usage.set(user, networks);
    seen.push(facts.get('networkShares', 'red'));
  };
  set('a', ['red', 'blue', 'red', 'red']);
  set('b', ['red', 'red']);
  set('a', ['red', 'blue']);
  set('b', []);
  expect(seen).toEqual([4, 8, 4, undefined]);
  expect([...facts.ids('networkInUse')].sort()).toEqual(['blue', 'red']);
});
