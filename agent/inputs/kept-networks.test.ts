import { describe, expect, it } from 'vitest';
import type { PodFact } from '../model/facts.ts';
import { TestCluster } from '../testing/cluster.ts';
import { withKeptNetworks } from './kept-networks.ts';

/** @param networks NAD keys and addresses */
const podFact = (networks: Record<string, string>, more: Partial<PodFact> = {}): PodFact => {
  const entries = Object.entries(networks).map(([nad, ip]) => [nad, { ips: [ip] }]);
  const cluster = new TestCluster('node1').pod('ns/a', { node: 'node1', networks: Object.fromEntries(entries) });
  return { ...cluster.facts.get('pod', 'ns/a')!, ...more };
};

const given = podFact({ default: '10.128.0.3/23', 'ns/net': '10.20.0.3/24' });

describe('a pod keeps', () => {
  it.each([
    ['all, when its annotation cannot be read', podFact({}, { unreadable: 'not JSON' }), ['default', 'ns/net']],
    ['what is not in its annotation any more', podFact({ default: '10.128.0.3/23' }), ['ns/net']],
  ])('%s', (_, after, lost) => {
    const kept = withKeptNetworks(given, after);
    expect(kept).toEqual({ ...after, networks: given.networks, lost: new Set(lost) });
    expect(withKeptNetworks(kept, given)).toEqual(given);
  });
});

it.each([
  ['that is new', undefined, given],
  ['whose annotation grows', podFact({ default: '10.128.0.3/23' }), given],
  ['of the same name as one before', given, podFact({}, { uid: 'another' })],
  ['that has finished', given, podFact({}, { finished: true })],
  ['whose entry changes', given, podFact({ default: '10.128.0.9/23', 'ns/net': '10.20.0.3/24' })],
])('a pod %s is what its annotation says', (_, before, after) => {
  expect(withKeptNetworks(before, after)).toEqual(after);
});
