import { expect, it } from 'vitest';
import { both, complement, EVERYTHING, isEverything, merged, type Ports, without } from './port-regions.ts';

const tcp = (first: number, last = first): Ports => ({ protocol: 'tcp', first, last });

it('takes ports from everything, and gives them back', () => {
  const rest = without([EVERYTHING], [tcp(80)]);
  expect(rest).toEqual([
    { protocol: 'other', first: 0, last: 65_535 },
    { protocol: 'sctp', first: 0, last: 65_535 },
    tcp(0, 79),
    tcp(81, 65_535),
    { protocol: 'udp', first: 0, last: 65_535 },
  ]);
  expect(complement(rest)).toEqual([tcp(80)]);
  expect(merged([...rest, tcp(80)])).toEqual([EVERYTHING]);
  expect([isEverything(rest), isEverything([EVERYTHING])]).toEqual([false, true]);
});

it('has nothing where nothing is left', () => {
  expect(without([tcp(1, 100)], [EVERYTHING])).toEqual([]);
  expect(complement([EVERYTHING])).toEqual([]);
  expect(complement([])).toEqual([EVERYTHING]);
  expect(both([tcp(80)], [{ protocol: 'udp', first: 80, last: 80 }])).toEqual([]);
});
