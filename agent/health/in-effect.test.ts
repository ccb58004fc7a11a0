import { expect, it } from 'vitest';
import { InEffect } from './in-effect.ts';

it('what was written before a number that ovn-controller has reached is in effect', () => {
  const effect = new InEffect();
  effect.reached(5);
  expect(effect.until).toBeUndefined();
  effect.raised(6, 100);
  effect.raised(7, 200);
  effect.reached(5);
  expect(effect.until).toBeUndefined();
  effect.reached(6);
  expect(effect.until).toBe(100);
  effect.reached(9);
  expect(effect.until).toBe(200);
});

it('what somebody owes for long costs nothing, and a database that is new counts from the beginning', () => {
  const effect = new InEffect();
  for (let value = 1; value <= 1_000; value += 1) effect.raised(value, value * 10);
  effect.reached(1);
  expect(effect.until).toBe(10);
  effect.reached(1_000);
  expect(effect.until).toBe(10_000);
  effect.raised(1, 20_000);
  effect.reached(1);
  expect(effect.until).toBe(20_000);
});
