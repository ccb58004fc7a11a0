import { expect, it } from 'vitest';
import { isStalled, Lag } from './lag.ts';

it('measures from the first number that is not answered', () => {
  const lag = new Lag();
  lag.asked(5, 1_000);
  lag.asked(5, 2_000);
  expect(lag.behind(4, 3_000)).toMatchObject({ ms: 2_000, asked: 5 });
  lag.asked(6, 3_000);
  expect(lag.behind(4, 4_000)).toMatchObject({ ms: 3_000, asked: 5 });
  expect(lag.behind(5, 4_000)).toMatchObject({ ms: 1_000, asked: 6 });
  expect(lag.behind(6, 9_000)).toMatchObject({ ms: 0, asked: 6 });
});

it('a database that was created again counts from the beginning', () => {
  const lag = new Lag();
  lag.asked(500, 0);
  lag.asked(1, 10_000);
  expect(lag.behind(0, 12_000)).toMatchObject({ ms: 2_000, asked: 1 });
});

it('a number that could not be read leaves what was owed', () => {
  const lag = new Lag();
  expect(lag.follow(undefined, undefined, 0)).toMatchObject({ ms: 0, asked: 0 });
  lag.follow(5, 4, 0);
  expect(lag.follow(5, 4, 12_000)).toMatchObject({ ms: 12_000, asked: 5 });
  expect(lag.follow(undefined, 4, 14_000)).toMatchObject({ ms: 12_000, asked: 5 });
  expect(lag.follow(5, undefined, 16_000)).toMatchObject({ ms: 12_000, asked: 5 });
  expect(lag.follow(5, 5, 18_000)).toMatchObject({ ms: 0, asked: 5 });
});

it('is stalled by the clock and by readings: whoever reads may be as late as the daemon', () => {
  const [often, seldom] = [new Lag(), new Lag()];
  for (const now of [0, 1_500, 3_000, 4_500, 6_000]) expect(isStalled(often.follow(2, 1, now))).toBe(false);
  expect(isStalled(often.follow(2, 1, 7_500))).toBe(true);
  for (const now of [0, 4_000, 8_000, 12_000]) expect(isStalled(seldom.follow(2, 1, now))).toBe(false);
  expect(isStalled(seldom.follow(2, 1, 16_000))).toBe(true);
  expect(isStalled(seldom.follow(2, 2, 16_100))).toBe(false);
});

it('is slow, not stalled, as long as it answers earlier numbers', () => {
  const lag = new Lag();
  // Asked every three seconds, it answers each five seconds late, and then never.
  for (const now of [0, 3_000, 6_000, 9_000, 12_000, 15_000]) {
    const reached = Math.floor(Math.max(0, now - 5_000) / 3_000);
    expect(isStalled(lag.follow(now / 3_000 + 1, reached, now))).toBe(false);
  }
  for (const now of [16_500, 18_000, 19_500, 21_000]) expect(isStalled(lag.follow(7, 3, now))).toBe(false);
  expect(isStalled(lag.follow(7, 3, 22_500))).toBe(true);
});

it('is too slow a minute after it was asked, whatever it answers', () => {
  const lag = new Lag();
  for (let now = 0; now < 60_000; now += 3_000) {
    expect(isStalled(lag.follow(100 + now / 3_000, 1 + now / 3_000, now))).toBe(false);
  }
  expect(isStalled(lag.follow(120, 21, 60_000))).toBe(true);
});

it('a reading that failed is none', () => {
  const lag = new Lag();
  lag.follow(2, 1, 0);
  for (const now of [2_000, 4_000, 6_000, 8_000, 10_000]) lag.follow(2, undefined, now);
  expect(isStalled(lag.follow(2, 1, 12_000))).toBe(false);
});
