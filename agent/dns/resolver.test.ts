import { describe, expect, it } from 'vitest';
import { parseDomainName } from '../../net/domain-name.ts';
import { type Ip, parseIp } from '../../net/ip.ts';
import { HELD_MS, KEPT_MS, MAX_ADDRESSES, STALE_MS } from './record.ts';
import { answer, FAILED, scripted } from './scripted-names.suite.ts';

const NAME = parseDomainName('www.example.com');
const MINUTE = 60_000;

const ips = (...texts: string[]): Ip[] => texts.map(parseIp);

describe('a name that is wanted', () => {
  it('is asked for both families, and again when its answer has lived its time', async () => {
    const { clock, answers, resolver, changes, times } = scripted();
    answers.set(4, answer(30, '192.0.2.1'));
    answers.set(6, answer(1000, '2001:db8::1'));
    resolver.want(NAME, 'administrator');
    await clock.advance(0);
    expect(changes.at(-1)).toEqual(['192.0.2.1', '2001:db8::1']);
    expect(resolver.state(NAME)).toEqual({
      ...{ kind: 'resolved', addresses: ['192.0.2.1', '2001:db8::1'], notes: [], answeredAgo: 0 },
    });
    await clock.advance(95_000);
    expect([times(4), times(6)]).toEqual([[0, 30, 60, 90], [0]]);
  });

  it.each([
    [0, 5],
    [1, 5],
    [86_400, 1800],
  ])('with a time to live of %d s is asked every %d s', async (ttl, seconds) => {
    const { clock, answers, resolver, times } = scripted();
    answers.set(4, answer(ttl, '192.0.2.1'));
    resolver.want(NAME, 'administrator');
    await clock.advance(seconds * 2000);
    expect(times(4)).toEqual([0, seconds, 2 * seconds]);
  });

  it('that has no addresses is asked within a minute', async () => {
    const { clock, answers, resolver, times } = scripted();
    answers.set(4, { kind: 'nonexistent', ttl: 3600 });
    answers.set(6, answer(20));
    resolver.want(NAME, 'administrator');
    await clock.advance(MINUTE);
    expect([times(4), times(6)]).toEqual([
      [0, 60],
      [0, 20, 40, 60],
    ]);
    expect(resolver.state(NAME)).toMatchObject({ kind: 'resolved', addresses: [] });
  });

  it('is not asked any more when all have released it, and once for all of them', async () => {
    const { clock, asked, resolver, hold } = scripted();
    const [first, second] = [resolver.want(NAME, 'administrator'), resolver.want(NAME, 'administrator')];
    await clock.advance(0);
    expect(asked).toHaveLength(2);
    first();
    first();
    await clock.advance(10 * MINUTE);
    expect(asked.length).toBeGreaterThan(2);
    second();
    expect(resolver.state(NAME)).toBeUndefined();
    const before = asked.length;
    await clock.advance(100 * MINUTE);
    expect(asked).toHaveLength(before);
    expect(clock.pending).toBe(0);
    const open = hold();
    const third = resolver.want(NAME, 'administrator');
    third();
    expect(asked.at(-1)?.aborted()).toBe(true);
    open();
    await clock.advance(0);
    expect(resolver.state(NAME)).toBeUndefined();
  });

  it('has nobody told anything, and asks nothing, once it is closed', async () => {
    const { clock, resolver, changes, answers } = scripted();
    answers.set(4, answer(5, '192.0.2.1'));
    resolver.want(NAME, 'administrator');
    resolver.close();
    await clock.advance(MINUTE);
    expect(changes).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

describe('answers that change', () => {
  it('leave an address that they have no more for the time that others may have it', async () => {
    const { clock, answers, resolver, changes } = scripted();
    answers.set(4, answer(10, '192.0.2.1', '192.0.2.2'));
    resolver.want(NAME, 'administrator');
    await clock.advance(0);
    answers.set(4, answer(10, '192.0.2.2', '192.0.2.3'));
    await clock.advance(10_000);
    expect(changes.at(-1)).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    await clock.advance(HELD_MS - 1);
    expect(changes).toHaveLength(2);
    await clock.advance(1);
    expect(changes.at(-1)).toEqual(['192.0.2.2', '192.0.2.3']);
  });

  it('leave it as long as the answer lives that had it', async () => {
    const { clock, answers, resolver, changes } = scripted();
    answers.set(4, answer(3000, '192.0.2.1'));
    resolver.want(NAME, 'administrator');
    await clock.advance(0);
    answers.set(4, answer(3000, '192.0.2.2'));
    await clock.advance(2_999_999);
    expect(changes.at(-1)).toEqual(['192.0.2.1', '192.0.2.2']);
    await clock.advance(1);
    expect(changes.at(-1)).toEqual(['192.0.2.2']);
  });

  it('take all at once where the name is there no more', async () => {
    const { clock, answers, resolver, changes } = scripted();
    answers.set(4, answer(10, '192.0.2.1'));
    resolver.want(NAME, 'administrator');
    await clock.advance(0);
    answers.set(4, { kind: 'nonexistent', ttl: 5 });
    await clock.advance(10_000);
    expect(changes.at(-1)).toEqual([]);
  });

  it('with other addresses each time are asked for no oftener, and are no more than count', async () => {
    const { clock, answers, resolver, changes, times } = scripted();
    resolver.want(NAME, 'administrator');
    for (let round = 0; round < 60; round++) {
      answers.set(4, answer(0, ...Array.from({ length: 100 }, (_, index) => `198.51.${round}.${index}`)));
      await clock.advance(5_000);
    }
    expect(times(4).length).toBeLessThanOrEqual(61);
    expect(Math.max(...changes.map(({ length }) => length))).toBe(MAX_ADDRESSES);
    // The last answer counts whole.
    expect(changes.at(-1)?.filter((ip) => ip.startsWith('198.51.59.'))).toHaveLength(100);
  });

  it('count as far as there is room, and without what is the cluster’s', async () => {
    const { clock, answers, resolver, changes } = scripted();
    const many = Array.from({ length: 10_000 }, (_, index) => `198.18.${index >> 8}.${index & 255}`);
    answers.set(4, answer(10, ...many));
    answers.set(6, answer(10, '2001:db8::1'));
    resolver.want(NAME, 'administrator');
    await clock.advance(0);
    expect(changes.at(-1)).toHaveLength(MAX_ADDRESSES + 1);
    expect(resolver.state(NAME)?.notes).toEqual(['9744 IPv4 addresses more than the 256 that count are left out']);
    const other = scripted();
    other.answers.set(4, answer(10, '10.1.2.3', '192.0.2.1'));
    other.resolver.want(NAME, 'administrator');
    await other.clock.advance(0);
    expect(other.changes).toEqual([['192.0.2.1']]);
    expect(other.resolver.state(NAME)?.notes).toEqual(['left out: 10.1.2.3 is in the cluster subnet 10.0.0.0/8']);
  });
});

describe('servers that do not answer', () => {
  it('leave the last answer for an hour, are asked ever less, and it is told since when', async () => {
    const { clock, answers, resolver, changes, times } = scripted();
    answers.set(4, answer(10, '192.0.2.1'));
    resolver.want(NAME, 'administrator');
    await clock.advance(0);
    answers.set(4, FAILED);
    const since = clock.wall() + 10_000;
    await clock.advance(10_000);
    expect(resolver.state(NAME)).toEqual({
      kind: 'failed',
      addresses: ['192.0.2.1'],
      notes: [],
      answeredAgo: 10_000,
      problem: 'A: 192.0.2.53: no answer within 2 s',
      since,
    });
    await clock.advance(MINUTE);
    expect(times(4)).toEqual([0, 10, 12.5, 17.5, 27.5, 47.5]);
    await clock.advance(STALE_MS - MINUTE - 10_001);
    expect(changes).toEqual([['192.0.2.1']]);
    await clock.advance(1);
    expect(changes.at(-1)).toEqual([]);
    answers.set(4, answer(10, '192.0.2.9'));
    resolver.retry();
    await clock.advance(0);
    expect(changes.at(-1)).toEqual(['192.0.2.9']);
    expect(resolver.state(NAME)).toMatchObject({ kind: 'resolved' });
  });

  it('leave nothing where there has been nothing', async () => {
    const { clock, answers, resolver } = scripted();
    answers.set(4, FAILED);
    answers.set(6, FAILED);
    resolver.want(NAME, 'administrator');
    await clock.advance(0);
    expect(resolver.state(NAME)).toMatchObject({ kind: 'failed', addresses: [] });
    expect(resolver.state(NAME)).not.toHaveProperty('answeredAgo');
  });
});

describe('what an agent before this one has found', () => {
  it('is there at once, stays as long as there is no answer, and is held after one', async () => {
    const { clock, answers, resolver, changes, hold } = scripted(ips('192.0.2.1', '2001:db8::1'));
    const open = hold();
    answers.set(4, answer(600, '192.0.2.2'));
    answers.set(6, answer(600, '2001:db8::1'));
    resolver.want(NAME, 'administrator');
    expect(changes).toEqual([['192.0.2.1', '2001:db8::1']]);
    expect(resolver.state(NAME)).toMatchObject({ kind: 'unresolved', addresses: ['192.0.2.1', '2001:db8::1'] });
    open();
    await clock.advance(0);
    expect(changes.slice(1)).toEqual([['192.0.2.1', '192.0.2.2', '2001:db8::1']]);
    await clock.advance(HELD_MS);
    expect(changes.at(-1)).toEqual(['192.0.2.2', '2001:db8::1']);
  });

  it('is written no more where the first answer is the same', async () => {
    const { clock, answers, resolver, changes } = scripted(ips('192.0.2.1'));
    answers.set(4, answer(600, '192.0.2.1'));
    resolver.want(NAME, 'administrator');
    await clock.advance(HELD_MS);
    expect(changes).toEqual([['192.0.2.1']]);
  });

  it.each(['fail', 'are not answered'])('ends after ten minutes where questions %s', async (how) => {
    const { clock, answers, resolver, changes, hold } = scripted(ips('192.0.2.1'));
    if (how === 'fail') answers.set(4, FAILED);
    else hold();
    resolver.want(NAME, 'administrator');
    await clock.advance(KEPT_MS - 1);
    expect(changes).toEqual([['192.0.2.1']]);
    await clock.advance(1);
    expect(changes).toEqual([['192.0.2.1'], []]);
  });
});
