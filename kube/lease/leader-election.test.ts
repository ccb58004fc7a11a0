import { afterEach, expect, it } from 'vitest';
import { delay } from '../../base/clock.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createEmbeddedCluster } from '../embedded/cluster.ts';
import { KubeError } from '../errors.ts';
import { LEASES } from '../resources.ts';
import type { KubeClient } from '../types.ts';
import { runLeaderElection } from './leader-election.ts';
import type { LeaderElectionOptions } from './types.ts';

const ref = { namespace: 'kube-system', name: 'udn-cluster-manager' };
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const bench = () => {
  const clock = createFakeClock();
  const client = createEmbeddedCluster({ clock }).client();
  const log: string[] = [];
  const leading = new Set<string>();
  let most = 0;
  const candidate = (identity: string, options: Partial<Pick<LeaderElectionOptions, 'lead' | 'clock'>> = {}) => {
    const stop = new AbortController();
    /** `answers`: updates are made, and nobody hears of it; `slow`: not for so many ms; `hangs`: not before it is given up. */
    const cut = { off: false, answers: false, slow: 0, hangs: false };
    const guarded =
      <P extends unknown[], R>(call: (...parameters: P) => Promise<R>) =>
      async (...parameters: P): Promise<R> => {
        if (cut.off) throw new KubeError('ERR_KUBE_NETWORK', 'unreachable');
        return await call(...parameters);
      };
    const own: Pick<KubeClient, 'get' | 'create' | 'update'> = {
      get: guarded(client.get),
      create: guarded(client.create),
      update: async (...parameters) => {
        const [, , , signal] = parameters;
        if (cut.hangs) await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
        const answer = await guarded(client.update)(...parameters);
        if (cut.slow > 0) await delay(clock, cut.slow);
        if (cut.answers) throw new KubeError('ERR_KUBE_NETWORK', 'the answer was lost');
        return answer;
      },
    };
    const lead = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        leading.add(identity);
        most = Math.max(most, leading.size);
        signal.addEventListener('abort', () => {
          leading.delete(identity);
          resolve();
        });
      });
    const running = runLeaderElection(
      {
        client: own,
        ...ref,
        identity,
        lead: options.lead ?? lead,
        clock: options.clock ?? clock,
        random: () => 0.5,
        observe: (seen) => {
          if (seen.kind !== 'failed')
            log.push(`${identity} ${seen.kind}${seen.kind === 'leader' ? ` ${seen.identity}` : ''}`);
        },
      },
      stop.signal,
    );
    const end = async () => {
      stop.abort();
      await running.catch(() => {});
    };
    stops.push(end);
    return { end, cut, running };
  };
  const holder = async () => (await client.get(LEASES, ref))['spec'];
  return { clock, client, candidate, leading, log, holder, most: () => most };
};

it('the first candidate leads and says so in the Lease', async () => {
  const { candidate, clock, leading, holder } = bench();
  candidate('a');
  await clock.advance(100);
  expect([...leading]).toEqual(['a']);
  expect(await holder()).toEqual({
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:00:00.000000Z',
    leaseTransitions: 0,
  });
});

it('it goes on leading as long as it renews', async () => {
  const { candidate, clock, leading, holder, log } = bench();
  candidate('a');
  candidate('b');
  await clock.advance(120_000);
  expect([...leading]).toEqual(['a']);
  expect(await holder()).toMatchObject({ leaseTransitions: 0, renewTime: expect.stringMatching(/T00:01:5/) });
  expect(log).toEqual(['a leader a', 'a leading', 'b leader a']);
});

it('a leader that stops hands over at once', async () => {
  const { candidate, clock, leading, holder } = bench();
  const first = candidate('a');
  await clock.advance(100);
  candidate('b');
  await clock.advance(100);
  await first.end();
  expect(await holder()).toMatchObject({ holderIdentity: '' });
  await clock.advance(3000);
  expect([...leading]).toEqual(['b']);
  expect(await holder()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
});

it('a leader that stops hands over at once, also when its last renewal got through without an answer', async () => {
  const { candidate, clock, leading, holder } = bench();
  const first = candidate('a');
  await clock.advance(100);
  const { renewTime } = (await holder()) as { renewTime: string };
  first.cut.answers = true;
  await clock.advance(2500);
  expect(await holder()).toMatchObject({ holderIdentity: 'a', renewTime: expect.not.stringMatching(renewTime) });
  first.cut.answers = false;
  await first.end();
  expect(await holder()).toMatchObject({ holderIdentity: '' });
  candidate('b');
  await clock.advance(100);
  expect([...leading]).toEqual(['b']);
});

it('a leader that is cut off stops before another begins', async () => {
  const { candidate, clock, leading, most, log } = bench();
  const first = candidate('a');
  await clock.advance(100);
  candidate('b');
  await clock.advance(5000);
  first.cut.off = true;
  await clock.advance(13_000);
  expect(leading.has('a')).toBe(false);
  await clock.advance(10_000);
  expect([...leading]).toEqual(['b']);
  expect(most()).toBe(1);
  expect(log).toContain('a lost');
  first.cut.off = false;
  await clock.advance(10_000);
  expect([...leading]).toEqual(['b']);
});

it('a leader whose lease was taken stops', async () => {
  const { candidate, clock, client, leading, log } = bench();
  candidate('a');
  await clock.advance(100);
  const body = {
    spec: { holderIdentity: 'thief', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:01.000000Z' },
  };
  await client.patch(LEASES, ref, { type: 'merge', body });
  await clock.advance(3000);
  expect([...leading]).toEqual([]);
  expect(log.slice(2)).toEqual(['a leader thief', 'a lost']);
  // The thief does not renew.
  await clock.advance(20_000);
  expect([...leading]).toEqual(['a']);
});

it('a leader whose lease another had meanwhile stops, even if it was given back', async () => {
  const { candidate, clock, client, leading, log } = bench();
  candidate('a');
  await clock.advance(100);
  await client.patch(LEASES, ref, { type: 'merge', body: { spec: { holderIdentity: '' } } });
  await clock.advance(3000);
  expect(log.slice(2)).toEqual(['a lost', 'a leader a', 'a leading']);
  expect([...leading]).toEqual(['a']);
});

it('a leader whose lease was deleted stops', async () => {
  const { candidate, clock, client, log } = bench();
  candidate('a');
  await clock.advance(100);
  await client.delete(LEASES, ref);
  await clock.advance(3000);
  expect(log).toContain('a lost');
});

it('says that it is held until the deadline of its renewal, whether or not a timer has run', async () => {
  const { candidate, clock, holder } = bench();
  const held: (() => boolean)[] = [];
  const lead = (signal: AbortSignal, isHeld: () => boolean): Promise<void> => {
    held.push(isHeld);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  };
  const { cut, end } = candidate('a', { lead });
  await clock.advance(5000);
  const [isHeld = () => false] = held;
  expect(isHeld()).toBe(true);
  cut.off = true;
  await clock.advance(6000);
  expect(isHeld()).toBe(true);
  await clock.advance(5000);
  expect(isHeld()).toBe(false);
  expect(await holder()).toMatchObject({ holderIdentity: 'a' });
  await end();
});

/** What asks whether the lease is held, of who leads. */
const asking = () => {
  const held: (() => boolean)[] = [];
  const lead = (signal: AbortSignal, isHeld: () => boolean): Promise<void> => {
    held.push(isHeld);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  };
  return { lead, isHeld: () => held[0]?.() };
};

it('is not held any more when the machine has slept, though its monotonic clock has not seen it', async () => {
  const { candidate, clock } = bench();
  const { lead, isHeld } = asking();
  let slept = 0;
  candidate('a', { lead, clock: { ...clock, wall: () => clock.wall() + slept } });
  await clock.advance(5000);
  expect(isHeld()).toBe(true);
  slept = 60_000;
  expect(isHeld()).toBe(false);
});

it('is held from when it was asked for, not from when that was answered', async () => {
  const { candidate, clock, holder } = bench();
  const { lead, isHeld } = asking();
  const { cut } = candidate('a', { lead });
  await clock.advance(5000);
  cut.slow = 7000;
  const { renewTime: before } = (await holder()) as { renewTime: string };
  const renewed = async () => ((await holder()) as { renewTime: string }).renewTime !== before;
  while (!(await renewed())) await clock.advance(100);
  // The others count from now on.
  await clock.advance(7000);
  cut.off = true;
  await clock.advance(2500);
  expect(isHeld()).toBe(true);
  await clock.advance(1000);
  expect(isHeld()).toBe(false);
});

it('is not held from the moment on that another is seen to have it', async () => {
  const { candidate, clock, client } = bench();
  const stopping = Promise.withResolvers<void>();
  const held: (() => boolean)[] = [];
  // What is led takes its time to end.
  const lead = (_: AbortSignal, isHeld: () => boolean): Promise<void> => {
    held.push(isHeld);
    return stopping.promise;
  };
  candidate('a', { lead });
  await clock.advance(5000);
  const spec = { holderIdentity: 'thief', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:06.000000Z' };
  await client.patch(LEASES, ref, { type: 'merge', body: { spec } });
  await clock.advance(2500);
  expect(held.map((isHeld) => isHeld())).toEqual([false]);
  stopping.resolve();
});

it('a leader whose renewal hangs stops in time', async () => {
  const { candidate, clock, leading, log } = bench();
  const { cut } = candidate('a');
  await clock.advance(5000);
  cut.hangs = true;
  await clock.advance(13_000);
  expect([...leading]).toEqual([]);
  expect(log).toContain('a lost');
});

it('a lease that does not say for how long is waited for as long as ours', async () => {
  const { candidate, clock, client, leading } = bench();
  await client.create(LEASES, { metadata: ref, spec: { holderIdentity: 'old' } });
  candidate('a');
  await clock.advance(14_000);
  expect([...leading]).toEqual([]);
  await clock.advance(4000);
  expect([...leading]).toEqual(['a']);
});

it('a lease of another clock is evaluated by ours', async () => {
  const { candidate, clock, client, leading } = bench();
  const spec = { holderIdentity: 'old', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00.000000Z' };
  await client.create(LEASES, { metadata: ref, spec });
  candidate('a');
  await clock.advance(14_000);
  expect([...leading]).toEqual([]);
  await clock.advance(4000);
  expect([...leading]).toEqual(['a']);
});

it('two that begin together are one leader', async () => {
  const { candidate, clock, leading, most } = bench();
  for (const identity of ['a', 'b', 'c']) candidate(identity);
  await clock.advance(60_000);
  expect([leading.size, most()]).toEqual([1, 1]);
});

it('a failure of what is led is handed on, and the lease released', async () => {
  const { candidate, clock, holder } = bench();
  const { running } = candidate('a', { lead: () => Promise.reject(new Error('broken')) });
  const outcome = expect(running).rejects.toThrow('broken');
  await clock.advance(100);
  await outcome;
  expect(await holder()).toMatchObject({ holderIdentity: '' });
});

it('a candidate that never led leaves the lease alone', async () => {
  const { candidate, clock, holder } = bench();
  candidate('a');
  await clock.advance(100);
  const second = candidate('b');
  await clock.advance(5000);
  await second.end();
  expect(await holder()).toMatchObject({ holderIdentity: 'a' });
});
