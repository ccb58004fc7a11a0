import { describe, expect, it } from 'vitest';
import { overflowsIn } from './neighbour-tables.ts';

describe('overflowsIn', () => {
  it('adds up the processors', () => {
    const text = [
      'entries  allocs   unresolved_discards table_fulls',
      '0000003d 000036b2 00000000            000000ff',
      '0000003d 000034d3 00000001            00000001',
      '',
    ].join('\n');
    expect(overflowsIn(text)).toBe(256);
  });

  it('is nothing where the kernel does not count', () => {
    expect(overflowsIn('entries  allocs\n0000003d 000036b2\n')).toBe(0);
    expect(overflowsIn('')).toBe(0);
  });
});
