import { expect, it } from 'vitest';
import type { PodFact } from '../model/facts.ts';
import { TestCluster } from '../testing/cluster.ts';
import { withKeptLimits } from './kept-limits.ts';

const LIMIT = { egressRate: 20_000_000 };
const networks = { default: { ips: ['10.128.0.3/23'] }, 'ns/net': { ips: ['10.20.0.3/24'] } };
const SELECTS = '[{"name":"net","bandwidth":{"egressRate":1000}}]';

const podFact = (more: { selects?: string } & Partial<PodFact> = {}): PodFact => {
  const { selects, ...rest } = more;
  const cluster = new TestCluster('node1').pod('ns/a', {
    ...{ node: 'node1', networks },
    ...(selects !== undefined && { selects }),
  });
  return { ...cluster.facts.get('pod', 'ns/a')!, ...rest };
};

const limited = podFact({ selects: SELECTS, bandwidth: LIMIT });
const kept = new Map([['ns/net', { egressRate: 1000 }]]);

it.each<[string, PodFact, Pick<PodFact, 'bandwidth' | 'keptLimits'>]>([
  ['whose annotation cannot be read', podFact({ selects: SELECTS, unreadableBandwidth: 'x' }), { bandwidth: LIMIT }],
  ['that selects the network no more', podFact({ bandwidth: LIMIT }), { bandwidth: LIMIT, keptLimits: kept }],
  [
    'whose selection cannot be read',
    podFact({ bandwidth: LIMIT, unreadableSelection: 'x' }),
    { bandwidth: LIMIT, keptLimits: kept },
  ],
])('a pod %s keeps its limits, and again after the next edit', (_, after, limits) => {
  const once = withKeptLimits(limited, after);
  expect(once).toEqual({ ...after, ...limits });
  expect(withKeptLimits(once, after)).toEqual(once);
  expect(withKeptLimits(once, limited)).toEqual(limited);
});

it.each([
  ['that selects the network without a limit', limited, podFact({ selects: 'net', bandwidth: LIMIT })],
  ['whose limit is taken away', limited, podFact({ selects: SELECTS })],
  ['of the same name as one before', limited, podFact({ uid: 'another', unreadableBandwidth: 'x' })],
  ['that has finished', limited, podFact({ finished: true, unreadableBandwidth: 'x' })],
  ['that is not on the network any more', limited, podFact({ networks: new Map(), bandwidth: LIMIT })],
  ['that is new', undefined, podFact({ unreadableBandwidth: 'x' })],
])('a pod %s is limited as its annotations say', (_, before, after) => {
  expect(withKeptLimits(before, after)).toEqual(after);
});
