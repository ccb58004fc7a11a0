import { expect, it } from 'vitest';
import { DriftWatch } from './drift-watch.ts';

it('three repairs in five minutes are a problem, until they are older', () => {
  let now = Date.UTC(2026, 0, 1, 12, 0, 0);
  const watch = new DriftWatch({ wall: () => now });
  watch.repaired('nftables');
  watch.repaired('host');
  now += 60_000;
  watch.repaired('nftables');
  expect(watch.problems('n1')).toEqual([]);
  watch.repaired('nftables');
  expect(watch.problems('n1')).toEqual([
    {
      ...{ object: 'Node/n1', severity: 'warning', cause: 'changed-by-others' },
      message: 'nftables of this node was found changed and repaired 3 times in 5 minutes, the last time at 12:01:00Z',
    },
  ]);
  now += 240_001;
  expect(watch.problems('n1')).toEqual([]);
});

it('remembers no more than it says', () => {
  const watch = new DriftWatch({ wall: () => 1_000_000 });
  for (let index = 0; index < 1_000; index++) watch.repaired('openflow');
  expect(watch.problems('n1')[0]?.message).toContain(
    'the flow table of this node was found changed and repaired over 100 times',
  );
});
