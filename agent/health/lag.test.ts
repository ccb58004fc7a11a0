import { expect, it } from 'vitest';
import { Lag } from './lag.ts';

it('measures from the first number that is not answered', () => {
  const lag = new Lag();
  lag.asked(5, 1_000);
  lag.asked(5, 2_000);
  expect(lag.behind(4, 3_000)).toEqual({ ms: 2_000, asked: 5 });
  lag.asked(6, 3_000);
  expect(lag.behind(4, 4_000)).toEqual({ ms: 3_000, asked: 5 });
  expect(lag.behind(5, 4_000)).toEqual({ ms: 1_000, asked: 6 });
  expect(lag.behind(6, 9_000)).toEqual({ ms: 0, asked: 6 });
});

it('a database that was created again counts from the beginning', () => {
  const lag = new Lag();
  lag.asked(500, 0);
  lag.asked(1, 10_000);
  expect(lag.behind(0, 12_000)).toEqual({ ms: 2_000, asked: 1 });
});

it('a number that could not be read leaves what was owed', () => {
  const lag = new Lag();
  expect(lag.follow(undefined, undefined, 0)).toEqual({ ms: 0, asked: 0 });
  lag.follow(5, 4, 0);
  expect(lag.follow(5, 4, 12_000)).toEqual({ ms: 12_000, asked: 5 });
  expect(lag.follow(undefined, 4, 14_000)).toEqual({ ms: 12_000, asked: 5 });
  expect(lag.follow(5, undefined, 16_000)).toEqual({ ms: 12_000, asked: 5 });
  expect(lag.follow(5, 5, 18_000)).toEqual({ ms: 0, asked: 5 });
});
