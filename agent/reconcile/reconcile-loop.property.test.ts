/** Whatever happens in whatever order, what is said to be done is done, and in the end everything is. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { Backend, OutsideChange } from '../../datapath/backend.ts';
import { ReconcileLoop } from './reconcile-loop.ts';

const KEYS = ['a', 'b', 'c'] as const;
const OWNERS = ['layer3:red', 'layer3:blue'] as const;

const key = fc.constantFrom(...KEYS);
const owner = fc.constantFrom(...OWNERS);
const action = fc.oneof(
  fc.record({ do: fc.constant('set' as const), owner, keys: fc.uniqueArray(key), value: fc.nat(2) }),
  fc.record({ do: fc.constant('drift' as const), key }),
  fc.record({ do: fc.constant('refuse' as const), key }),
  fc.record({ do: fc.constantFrom('tell all', 'leave', 'come back', 'accept', 'pass') }),
  fc.record({ do: fc.constant('turns' as const), count: fc.nat(8) }),
);
type Action = typeof action extends fc.Arbitrary<infer One> ? One : never;

const turn = (): Promise<unknown> => new Promise(setImmediate);

const setUp = () => {
  const actual = new Map<string, string>([['old', 'old=0']]);
  const refused = new Set<string>();
  const clock = createFakeClock();
  let isAway = false;
  let emit: (change: OutsideChange) => void = () => undefined;
  const backend: Backend<string> = {
    reconcile: async ({ desired, keys }) => {
      await turn();
      if (isAway) throw new Error('no answer');
      const failed = new Map<string, string>();
      let written = 0;
      for (const one of keys === 'all' ? new Set([...desired.keys(), ...actual.keys()]) : keys) {
        const value = desired.get(one);
        if (actual.get(one) === value) continue;
        if (refused.has(one)) {
          failed.set(one, 'refused');
          continue;
        }
        if (value === undefined) actual.delete(one);
        else actual.set(one, value);
        written++;
      }
      await turn();
      return { written, failed, waiting: new Map() };
    },
    listen: (listener) => {
      emit = listener;
      return () => undefined;
    },
    close: () => Promise.resolve(),
  };
  const loop = new ReconcileLoop<string>({
    keyOf: (item) => item.split('=')[0] ?? '',
    ...{ backend, clock, observe: () => undefined },
  });
  const perform = async (one: Action): Promise<void> => {
    if (one.do === 'set')
      loop.store.set(
        one.owner,
        one.keys.map((name) => `${name}=${one.value}`),
      );
    else if (one.do === 'refuse') refused.add(one.key);
    else if (one.do === 'drift') {
      actual.set(one.key, `${one.key}=drift`);
      emit({ cause: 'drift', keys: new Set([one.key]) });
    } else if (one.do === 'tell all') emit({ cause: 'input', keys: 'all' });
    else if (one.do === 'accept') refused.clear();
    else if (one.do === 'pass') clock.pass(15_000);
    else if (one.do === 'turns') for (let i = 0; i < one.count; i++) await turn();
    else isAway = one.do === 'leave';
  };
  return { actual, clock, loop, perform };
};

it('says that a key is done only when it is, and comes to rest', () =>
  fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      const { actual, clock, loop, perform } = setUp();
      const { desired } = loop.store;
      loop.start();
      await loop.whenIdle();
      for (const one of actions) {
        await perform(one);
        const done = KEYS.filter((name) => loop.statusOf(name).kind === 'done');
        expect(done.map((name) => actual.get(name))).toEqual(done.map((name) => desired.get(name)));
      }
      await perform({ do: 'come back' });
      await perform({ do: 'accept' });
      for (let i = 0; i < 3; i++) {
        clock.pass(15_000);
        await loop.whenIdle(AbortSignal.timeout(5_000));
      }
      expect(actual).toEqual(desired);
      expect([loop.problems(), OWNERS.map((name) => loop.status(name).kind)]).toEqual([[], ['done', 'done']]);
      expect(loop.queue()).toEqual({ depth: 0, oldestMs: 0, stalledMs: 0, hasCompared: true, failing: undefined });
      await loop.stop();
    }),
    { numRuns: 300 },
  ));
