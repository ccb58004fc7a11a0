import { expect, it } from 'vitest';
import { parseNetworkId, parseNodeId, parsePort, parsePortKey } from './ids.ts';

it.each([
  ['port', parsePort, 1, 65_535, 0, 65_536],
  ['network id', parseNetworkId, 0, 4095, -1, 4096],
  ['node id', parseNodeId, 1, 5000, 0, 5001],
  ['port key', parsePortKey, 1, 32_767, 0, 32_768],
])('a %s has a range', (_, parse, min, max, below, above) => {
  expect(parse(min)).toBe(min);
  expect(parse(String(max))).toBe(max);
  for (const bad of [below, above, 1.5, '', ' 1', '01', '1e3', Number.NaN, null, undefined, {}]) {
    expect(() => parse(bad)).toThrow(expect.objectContaining({ name: 'NetError' }));
  }
});
