/** What this program itself changes is no drift, whatever a backend finds and when. */
import { expect, it } from 'vitest';
import { setup } from '../testing/loop-over-values.ts';

const signal = AbortSignal.timeout(60_000);

/** A loop whose timer's look has begun to read. @param damage done by somebody else before that */
const whileReading = async (values: readonly string[], damage: (actual: Map<string, string>) => void) => {
  const made = setup();
  const { fake, loop, clock } = made;
  loop.store.set('o', values);
  loop.start();
  await loop.whenIdle(signal);
  const reading = Promise.withResolvers<void>();
  fake.reading = reading.promise;
  damage(fake.actual);
  clock.ring(15_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(fake.requests).toEqual(['all', 'all']);
  return { ...made, reading };
};

it('what comes while the timer’s look reads is no drift, though that look writes it', async () => {
  const { fake, loop, seen, reading } = await whileReading(['x=1'], () => undefined);
  loop.store.set('o', ['x=1', 'y=1']);
  reading.resolve();
  await loop.whenIdle(signal);
  expect(fake.actual.get('y')).toBe('y=1');
  expect(seen.filter(({ kind }) => kind === 'drift')).toEqual([]);
});

it('what somebody else has changed is named, whatever came meanwhile', async () => {
  const { loop, seen, reading } = await whileReading(['x=1'], (actual) => actual.delete('x'));
  loop.store.set('o', ['x=1', 'y=1']);
  reading.resolve();
  await loop.whenIdle(signal);
  expect(seen.filter(({ kind }) => kind === 'drift')).toEqual([{ kind: 'drift', keys: new Set(['x']), count: 1 }]);
});

it('what is too much to be named is drift but for what came meanwhile', async () => {
  const { fake, loop, seen, reading } = await whileReading(['x=1', 'y=1'], (actual) => actual.clear());
  fake.namesWrites = false;
  loop.store.set('o', ['x=1', 'y=1', 'z=1']);
  reading.resolve();
  await loop.whenIdle(signal);
  expect(seen.filter(({ kind }) => kind === 'drift')).toEqual([{ kind: 'drift', keys: 'all', count: 2 }]);
});

it('what a backend hears of a key that is desired otherwise by now is no drift', async () => {
  const { fake, loop, seen } = setup();
  loop.store.set('o', ['x=1', 'y=1']);
  loop.start();
  await loop.whenIdle(signal);
  loop.store.set('o', ['x=2', 'y=1']);
  fake.emit({ cause: 'drift', keys: new Set(['x']) });
  fake.emit({ cause: 'drift', keys: new Set(['x', 'y']) });
  await loop.whenIdle(signal);
  expect(fake.actual.get('x')).toBe('x=2');
  expect(seen.filter(({ kind }) => kind === 'drift')).toEqual([{ kind: 'drift', keys: new Set(['y']) }]);
});
