import { expect, it } from 'vitest';
import { parseMeasurement } from './measurement.ts';

it('has the time of a packet in each batch, and of the round trips, in microseconds', () => {
  expect(parseMeasurement('64 64\n640000 1280000\n200000 350500\n')).toEqual({
    packets: [20, 40],
    roundTrips: [200, 350.5],
  });
});

it('refuses what lost more than a hundredth', () => {
  expect(parseMeasurement('1000 990\n1000000\n1\n').packets).toEqual([1]);
  expect(() => parseMeasurement('1000 989\n1000000\n1\n')).toThrow('of 1000 packets only 989 arrived');
});

it.each(['', 'no answer\n', '32 32\n', '32 32\n100\n', '0 0\n100\n1\n'])('refuses %j', (text) => {
  expect(() => parseMeasurement(text)).toThrow('not what forward.c prints');
});
