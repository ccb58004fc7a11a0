import { describe, expect, it } from 'vitest';
import { type DomainName, parseDomainName } from '../../net/domain-name.ts';
import { MAX_ASKING, MAX_NAMES } from './resolver.ts';
import { answer, FAILED, scripted } from './scripted-names.suite.ts';

describe('many names', () => {
  const nameOf = (index: number): DomainName => parseDomainName(`n${index}.example.com`);

  it('are asked a few at a time, and no more than there is room for', async () => {
    const { clock, asked, resolver, hold } = scripted();
    const open = hold();
    const releases = Array.from({ length: MAX_NAMES + 2 }, (_, index) => resolver.want(nameOf(index), 'administrator'));
    await clock.advance(0);
    expect(asked).toHaveLength(MAX_ASKING);
    open();
    await clock.advance(0);
    for (let turn = 0; turn < 200 && asked.length < 2 * MAX_NAMES; turn++) await clock.advance(0);
    expect(asked).toHaveLength(2 * MAX_NAMES);
    const extra = nameOf(MAX_NAMES + 1);
    expect(resolver.state(extra)).toEqual({
      ...{
        kind: 'unresolved',
        addresses: [],
        problem: 'this node resolves 2000 names of such rules already, and not this one',
      },
    });
    releases[MAX_NAMES]?.();
    releases[0]?.();
    await clock.advance(0);
    expect(resolver.state(extra)?.kind).toBe('resolved');
    expect([...resolver.names()]).toHaveLength(MAX_NAMES);
  });

  it('of firewalls leave room for those of administrators, also where these name the same', async () => {
    const { clock, asked, resolver } = scripted();
    for (let index = 0; index < MAX_NAMES + 2; index++) resolver.want(nameOf(index), 'firewall');
    const [site, waiting, later] = [nameOf(9000), nameOf(MAX_NAMES), nameOf(MAX_NAMES + 1)];
    const [, release] = [resolver.want(site, 'administrator'), resolver.want(waiting, 'administrator')];
    for (let turn = 0; turn < 200 && asked.length < 2 * MAX_NAMES + 4; turn++) await clock.advance(0);
    expect([site, waiting, later].map((name) => resolver.state(name)?.kind)).toEqual([
      ...['resolved', 'resolved', 'unresolved'],
    ]);
    // A name that is in the firewalls' room moves to that of administrators, and the next of firewalls has its place.
    resolver.want(nameOf(0), 'administrator');
    await clock.advance(0);
    expect(resolver.state(later)?.kind).toBe('resolved');
    release();
    expect(resolver.state(waiting)?.kind).toBe('resolved');
    expect([...resolver.names()]).toHaveLength(MAX_NAMES + 3);
  });

  it('are asked less often the more they are', async () => {
    const { clock, answers, asked, resolver } = scripted();
    answers.set(4, answer(0, '192.0.2.1'));
    answers.set(6, answer(0, '2001:db8::1'));
    for (let index = 0; index < 1000; index++) resolver.want(nameOf(index), 'administrator');
    await clock.advance(99_000);
    // Five times each in 99 s: about a hundred per second.
    expect(asked).toHaveLength(1000 * 2 * 5);
  });

  it('with other addresses each time are asked less often the more addresses these are', async () => {
    const { clock, answers, asked, resolver } = scripted();
    const fresh = (round: number, count: number) =>
      answer(0, ...Array.from({ length: count }, (_, index) => `198.${50 + (round >> 8)}.${round & 255}.${index}`));
    answers.set(4, fresh(0, 256));
    for (let index = 0; index < 100; index++) resolver.want(nameOf(index), 'firewall');
    resolver.want(nameOf(9000), 'administrator');
    for (let turn = 0; turn < 20; turn++) await clock.advance(0);
    const asks = (name: DomainName): number[] =>
      asked.filter((one) => one.name === name && one.family === 4).map(({ at }) => at / 1000);
    for (let second = 1; second <= 300; second++) {
      answers.set(4, fresh(second, 256));
      await clock.advance(1_000);
    }
    // 256 addresses of each of 100 names, 10 ms each; the first answer of a name is none that changes.
    expect(asks(nameOf(0))).toEqual([0, 5, 261]);
    // Names of tenants that do so are no reason to ask late about one of administrators.
    expect(asks(nameOf(9000)).length).toBeGreaterThan(50);
  });

  it('whose answers take turns with addresses that are known are asked by their time to live', async () => {
    const { clock, answers, asked, resolver } = scripted();
    for (let index = 0; index < 100; index++) resolver.want(nameOf(index), 'firewall');
    for (let second = 0; second < 60; second++) {
      answers.set(4, answer(10, ...[0, 1, 2, 3].map((index) => `198.51.100.${4 * (second % 8) + index}`)));
      await clock.advance(1_000);
    }
    const [first] = [asked.filter((one) => one.name === nameOf(0) && one.family === 4)];
    expect(first.length).toBeGreaterThanOrEqual(6);
  });

  it('that never answer leave room for the others', async () => {
    const { clock, answers, asked, resolver, hold } = scripted();
    answers.set(4, FAILED);
    answers.set(6, FAILED);
    for (let index = 0; index < 100; index++) resolver.want(nameOf(index), 'administrator');
    for (let turn = 0; turn < 10; turn++) await clock.advance(0);
    expect(asked).toHaveLength(200);
    const open = hold();
    await clock.advance(60_000);
    const retries = asked.length - 200;
    expect(retries).toBe(MAX_ASKING / 2);
    resolver.want(nameOf(100), 'administrator');
    expect(asked).toHaveLength(200 + retries + 2);
    open();
  });

  it('of firewalls that never answer hold up no question about those of administrators', async () => {
    const { clock, asked, resolver, hold } = scripted();
    const site = nameOf(9000);
    resolver.want(site, 'administrator');
    await clock.advance(0);
    const open = hold();
    for (let index = 0; index < 100; index++) resolver.want(nameOf(index), 'firewall');
    // The first question about each: no failure says yet that it will not answer.
    await clock.advance(60_000);
    expect(asked.filter(({ name }) => name === site).map(({ at }) => at)).toEqual([0, 0, 60_000, 60_000]);
    // One that administrators name, too, is asked among theirs.
    const late = nameOf(99);
    expect(asked.map(({ name }) => name)).not.toContain(late);
    resolver.want(late, 'administrator');
    expect(asked.filter(({ name }) => name === late)).toHaveLength(2);
    expect(asked).toHaveLength(4 + MAX_ASKING + 2);
    open();
    for (let turn = 0; turn < 20; turn++) await clock.advance(0);
    expect(resolver.state(nameOf(98))?.kind).toBe('resolved');
  });
});
