import { describe, expect, it } from 'vitest';
import { parseNetworkSelections } from './network-selection.ts';

describe('network selections', () => {
  it.each([
    ['the comma form', (count: number) => Array(count).fill('a').join(',')],
    ['JSON', (count: number) => JSON.stringify(Array(count).fill({ name: 'a' }))],
  ])('reads 32 networks in %s and no more', (_, text) => {
    expect(parseNetworkSelections(text(32), 'ns/pod')).toHaveLength(32);
    const message = 'at most 32 networks are possible, 33 are asked for';
    expect(() => parseNetworkSelections(text(33), 'ns/pod')).toThrow(message);
  });

  it.each(['ips', 'default-route'])('does not look at each of thousands of %s', (field) => {
    const text = JSON.stringify([{ name: 'a', [field]: Array(17).fill('x') }]);
    expect(() => parseNetworkSelections(text, 'ns/pod')).toThrow(`[0].${field}: must have at most 16 items, has 17`);
  });

  it('counts before it looks', () => {
    const text = JSON.stringify(Array(33).fill({ name: '/' }));
    expect(() => parseNetworkSelections(text, 'ns/pod')).toThrow('33 are asked for');
    expect(() => parseNetworkSelections('/,'.repeat(40_000), 'ns/pod')).toThrow('40000 are asked for');
  });
});
