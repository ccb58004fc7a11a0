import { expect, it } from 'vitest';
import { setup } from '../testing/loop-over-values.ts';

const signal = AbortSignal.timeout(60_000);

it('writes nothing before the start, then compares everything, then what changes', async () => {
  const { fake, loop } = setup();
  fake.actual.set('old', 'old=1');
  loop.store.set('o', ['x=1']);
  await new Promise((resolve) => setImmediate(resolve));
  expect(fake.requests).toEqual([]);
  loop.start();
  await loop.whenIdle(signal);
  expect(fake.actual).toEqual(new Map([['x', 'x=1']]));
  loop.store.set('o', ['x=2', 'y=1']);
  await loop.whenIdle(signal);
  expect(fake.requests).toEqual(['all', new Set(['x', 'y'])]);
  expect(fake.actual.get('x')).toBe('x=2');
});

it('goes on after a turn in which there was nothing to do', async () => {
  const { fake, loop } = setup();
  loop.start();
  await loop.whenIdle(signal);
  // Reported, but nothing is behind it.
  fake.emit({ cause: 'input', keys: new Set() });
  await loop.whenIdle(signal);
  loop.store.set('o', ['x=1']);
  await loop.whenIdle(signal);
  expect(fake.actual.get('x')).toBe('x=1');
});

it('looks at what somebody else changed, counts it, and at everything when the time has come', async () => {
  const { fake, loop, clock, seen } = setup();
  loop.store.set('o', ['x=1', 'y=1']);
  loop.start();
  await loop.whenIdle(signal);
  fake.actual.delete('x');
  fake.emit({ cause: 'drift', keys: new Set(['x']) });
  await loop.whenIdle(signal);
  expect(fake.actual.get('x')).toBe('x=1');
  expect(seen.filter(({ kind }) => kind === 'drift')).toHaveLength(1);
  fake.actual.set('z', 'z=1');
  clock.ring(15_000);
  await loop.whenIdle(signal);
  expect(fake.requests).toEqual(['all', new Set(['x']), 'all']);
  expect(fake.actual.has('z')).toBe(false);
  expect(seen.filter(({ kind }) => kind === 'drift').at(-1)).toEqual({ kind: 'drift', keys: new Set(['z']), count: 1 });
});

it('what the timer finds right, or was asked for meanwhile, is no drift', async () => {
  const { loop, clock, seen } = setup();
  loop.store.set('o', ['x=1']);
  loop.start();
  await loop.whenIdle(signal);
  clock.ring(15_000);
  await loop.whenIdle(signal);
  clock.ring(15_000);
  loop.store.set('o', ['x=2']);
  await loop.whenIdle(signal);
  expect(seen.filter(({ kind }) => kind === 'drift')).toEqual([]);
});

it('tries again what failed, later each time, and does the rest meanwhile', async () => {
  const { fake, loop, clock } = setup();
  fake.refused.add('x');
  loop.store.set('o', ['x=1', 'y=1']);
  loop.start();
  await loop.whenIdle(signal);
  expect(fake.actual).toEqual(new Map([['y', 'y=1']]));
  const status = { kind: 'failed', message: 'refused' };
  expect(loop.problems()).toEqual([{ owner: 'o', key: 'x', isDesired: true, status }]);
  const first = Math.min(...clock.waiting.values());
  clock.ring(1);
  await loop.whenIdle(signal);
  expect(Math.min(...clock.waiting.values())).toBeGreaterThan(first);
  fake.refused.clear();
  clock.ring();
  await loop.whenIdle(signal);
  expect([fake.actual.get('x'), loop.problems()]).toEqual(['x=1', []]);
});

it('what fails for a moment is tried again soon, whatever else can never be', async () => {
  const { fake, loop, clock } = setup();
  fake.refused.add('never');
  loop.store.set('o', ['never=1']);
  loop.start();
  await loop.whenIdle(signal);
  for (let i = 0; i < 10; i++) {
    clock.ring();
    await loop.whenIdle(signal);
  }
  const waits = (): number[] => [...clock.waiting.values()].filter((ms) => ms !== 15_000);
  expect(waits()).toHaveLength(1);
  expect(waits()[0]).toBeGreaterThanOrEqual(7_500);
  fake.refused.add('x');
  loop.store.set('p', ['x=1']);
  await loop.whenIdle(signal);
  const soon = Math.min(...clock.waiting.values());
  expect(soon).toBeLessThan(200);
  fake.refused.delete('x');
  clock.ring();
  await loop.whenIdle(signal);
  expect([fake.actual.get('x'), loop.problems().map(({ key }) => key)]).toEqual(['x=1', ['never']]);
});

it('looks at all that it could not, as soon as a place answers again', async () => {
  const { fake, loop, clock } = setup();
  fake.actual.set('old', 'old=1');
  fake.isGone = true;
  loop.store.set('o', ['x=1']);
  loop.start();
  await loop.whenIdle(signal);
  fake.isGone = false;
  // Something happens before the time has come.
  fake.emit({ cause: 'input', keys: new Set(['x']) });
  await loop.whenIdle(signal);
  expect(fake.requests).toEqual(['all', new Set(['x']), 'all']);
  expect(fake.actual).toEqual(new Map([['x', 'x=1']]));
  expect([...clock.waiting.values()]).toEqual([15_000]);
});

it('looks at once at what comes while a backend does not answer', async () => {
  const { fake, loop } = setup();
  loop.start();
  await loop.whenIdle(signal);
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<never>();
  const { reconcile } = fake;
  fake.reconcile = () => {
    asked.resolve();
    return answer.promise;
  };
  loop.store.set('o', ['x=1']);
  await asked.promise;
  loop.store.set('p', ['y=1']);
  fake.reconcile = reconcile;
  answer.reject(new Error('no answer'));
  await loop.whenIdle(signal);
  expect(fake.actual).toEqual(new Map(['x', 'y'].map((key) => [key, `${key}=1`])));
});

it('remembers what waits until the place says that it is there', async () => {
  const { fake, loop, clock } = setup();
  fake.absent.add('x');
  loop.store.set('o', ['x=1']);
  loop.start();
  await loop.whenIdle(signal);
  expect(loop.statusOf('x')).toEqual({ kind: 'waiting', message: 'a link' });
  // Only the slow timer waits: nothing is tried before there is a reason.
  expect([...clock.waiting.values()]).toEqual([15_000]);
  fake.absent.clear();
  fake.emit({ cause: 'input', keys: new Set(['x']) });
  await loop.whenIdle(signal);
  expect([fake.actual.get('x'), loop.problems()]).toEqual(['x=1', []]);
});

it('compares everything again when a place that did not answer is back', async () => {
  const { fake, loop, clock, seen } = setup();
  fake.isGone = true;
  loop.store.set('o', ['x=1']);
  loop.start();
  await loop.whenIdle(signal);
  expect(seen).toMatchObject([{ kind: 'failed' }]);
  fake.isGone = false;
  clock.ring();
  await loop.whenIdle(signal);
  expect(fake.actual.get('x')).toBe('x=1');
  await loop.stop();
  expect(fake.closed).toBe(true);
});

it('lets others go on when its changes are written, and at once when it has none or compares everything', async () => {
  const { fake, loop } = setup();
  const order: string[] = [];
  const ask = (name: string): void => loop.afterWrites(() => order.push(name));
  ask('before the start');
  loop.store.set('o', ['x=1']);
  loop.start();
  ask('while everything is compared');
  expect(order).toEqual(['before the start', 'while everything is compared']);
  await loop.whenIdle(signal);
  ask('with nothing to do');
  expect(order).toHaveLength(3);
  loop.store.set('o', ['x=2']);
  loop.afterWrites(() => order.push(`x is ${fake.actual.get('x')}`));
  expect(order).toHaveLength(3);
  await loop.whenIdle(signal);
  expect(order.at(-1)).toBe('x is x=2');
});

it('lets others wait for a place that does not answer only for a while', async () => {
  const { fake, loop, clock } = setup();
  loop.start();
  await loop.whenIdle(signal);
  const answer = Promise.withResolvers<void>();
  fake.reconcile = async () => {
    await answer.promise;
    return { written: 0, failed: new Map(), waiting: new Map() };
  };
  loop.store.set('o', ['x=1']);
  let calls = 0;
  loop.afterWrites(() => {
    calls += 1;
  });
  expect(calls).toBe(0);
  clock.ring();
  expect(calls).toBe(1);
  answer.resolve();
  await loop.whenIdle(signal);
  expect(calls).toBe(1);
});

it('reports after each look which keys have changed, and knows which have not been looked at', async () => {
  const { fake, loop } = setup();
  const reported: string[][] = [];
  const end = loop.onLook((changed) => reported.push([...changed]));
  loop.store.set('o', ['x=1', 'y=1']);
  const kinds = () => ['x', 'y'].map((key) => loop.statusOf(key).kind);
  expect(kinds()).toEqual(['pending', 'pending']);
  fake.refused.add('x');
  loop.start();
  await loop.whenIdle(signal);
  expect([reported, kinds()]).toEqual([[['x']], ['failed', 'done']]);
  loop.store.set('o', ['x=1', 'y=2']);
  expect(kinds()).toEqual(['failed', 'pending']);
  fake.isGone = true;
  await loop.whenIdle(signal);
  expect([reported, kinds()]).toEqual([
    [['x'], []],
    ['failed', 'pending'],
  ]);
  fake.isGone = false;
  fake.refused.clear();
  loop.store.set('o', ['x=2', 'y=2']);
  await loop.whenIdle(signal);
  expect([reported.flat(), kinds()]).toEqual([
    ['x', 'x'],
    ['done', 'done'],
  ]);
  end();
  loop.store.set('o', []);
  await loop.whenIdle(signal);
  expect(reported.flat()).toEqual(['x', 'x']);
});

it('an owner has the worst status of its keys, and is done without what this machine cannot have', async () => {
  const { fake, loop } = setup();
  fake.impossible.add('vrf');
  fake.absent.add('address');
  fake.refused.add('route');
  loop.store.set('red', ['vrf=1', 'link=1']);
  loop.store.set('blue', ['vrf=1', 'address=1']);
  loop.store.set('green', ['address=1', 'route=1']);
  const statuses = () => ['red', 'blue', 'green', 'nobody'].map((owner) => loop.status(owner).kind);
  expect(statuses()).toEqual(['pending', 'pending', 'pending', 'done']);
  expect(loop.problems()).toHaveLength(4);
  loop.start();
  await loop.whenIdle(signal);
  expect(statuses()).toEqual(['done', 'waiting', 'failed', 'done']);
  expect(loop.status('green')).toEqual({ kind: 'failed', message: 'refused' });
  expect(loop.counts).toEqual({ failed: 1, waiting: 1, unsupported: 1 });
  fake.isGone = true;
  loop.store.set('red', ['link=2']);
  await loop.whenIdle(signal);
  expect(loop.status('red')).toEqual({ kind: 'pending', message: 'no answer' });
  expect(loop.problems().find(({ key }) => key === 'link')).toMatchObject({ owner: 'red', isDesired: true });
  fake.isGone = false;
  loop.store.delete('blue');
  loop.store.delete('green');
  const gone = loop.problems().filter(({ isDesired }) => !isDesired);
  expect(gone.map(({ owner }) => owner).sort()).toEqual(['address', 'route', 'vrf']);
});
