import { expect, it } from 'vitest';
import { NetworksInEffect } from './effect.ts';
import type { NetworkOnNode } from './ledger.ts';

const setUp = () => {
  const node = { now: 10_000, until: 9_000 as number | undefined, stopped: undefined as string | undefined };
  const effect = new NetworksInEffect({
    clock: { monotonic: () => node.now },
    unfollowed: () => node.stopped,
    inEffectUntil: () => node.until,
    earlier: ['old', 'half'],
  });
  const look = (network: string, state: NetworkOnNode['state'] = 'Ready') => {
    const seen = effect.look(network, { id: 1, createdAt: '', state });
    return seen?.message === undefined ? seen?.state : `${seen.state}: ${seen.message}`;
  };
  return { node, effect, look };
};

it('a network that is written while a daemon has stopped is not ready before that follows', () => {
  const { node, effect, look } = setUp();
  expect([look('old'), look('half', 'Pending')]).toEqual(['Ready', 'Pending']);
  node.stopped = 'ovn-northd has stopped';
  expect([look('old'), look('half'), look('new', 'Pending'), look('new')]).toEqual([
    'Ready',
    'Pending: ovn-northd has stopped',
    'Pending',
    'Pending: ovn-northd has stopped',
  ]);
  expect(effect.unproven()).toEqual(['half', 'new']);
  node.stopped = undefined;
  expect([look('new'), look('half')]).toEqual(['Ready', 'Ready']);
  node.until = 10_001;
  expect(effect.unproven()).toEqual([]);
  node.stopped = 'ovn-northd has stopped';
  expect([look('new'), look('old', 'Pending'), look('old')]).toEqual(['Ready', 'Pending', 'Ready']);
});

it('one that was written before it was known that a daemon had stopped is looked at again', () => {
  const { node, effect, look } = setUp();
  node.now = 20_000;
  node.until = 15_000;
  expect(look('new')).toBe('Ready');
  node.stopped = 'ovn-controller has stopped';
  node.until = 19_000;
  expect(effect.unproven()).toEqual(['new']);
  expect(look('new')).toBe('Pending: ovn-controller has stopped');
});

it('another network of the name of one that is gone is a new one', () => {
  const { node, effect, look } = setUp();
  expect(look('old')).toBe('Ready');
  expect(effect.look('old', undefined)).toBe(undefined);
  node.stopped = 'ovn-northd has stopped';
  expect(look('old')).toBe('Pending: ovn-northd has stopped');
  node.until = undefined;
  expect(effect.unproven()).toEqual(['old']);
});
