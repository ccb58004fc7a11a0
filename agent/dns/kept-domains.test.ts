import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { keptDomains, takeKeptDomains } from './kept-domains.ts';
import { KEPT_MS } from './record.ts';

it('finds what an earlier agent has left of each name, and nothing of other sets', () => {
  const set = (type: string, name: string, ...addresses: string[]) => ({
    addresses,
    external_ids: { 'k8s.ovn.org/owner-type': type, 'k8s.ovn.org/name': name },
  });
  const kept = keptDomains([
    set('DomainName', 'a.example.', '192.0.2.2', '192.0.2.1'),
    set('DomainName', 'a.example.', '192.0.2.1', '192.0.2.3', 'not an address'),
    set('DomainName', 'a.example.', '2001:db8::1'),
    set('DomainName', 'b.example.'),
    set('NetpolPeers', 'c.example.', '192.0.2.9'),
    { addresses: ['192.0.2.9'], external_ids: {} },
  ]);
  expect([...kept]).toEqual([
    ['a.example.', ['192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1']],
    ['b.example.', []],
  ]);
});

it('gives what was left of a name once, and nothing once the start is minutes ago', async () => {
  const set = (name: string) => ({
    addresses: ['192.0.2.1'],
    external_ids: { 'k8s.ovn.org/owner-type': 'DomainName', 'k8s.ovn.org/name': name },
  });
  const clock = createFakeClock();
  const kept = takeKeptDomains([set('a.example.'), set('b.example.')], clock);
  await clock.advance(KEPT_MS - 1);
  expect(kept.take('a.example.')).toEqual(['192.0.2.1']);
  expect(kept.take('a.example.')).toEqual([]);
  await clock.advance(1);
  expect(kept.take('b.example.')).toEqual([]);
  const closed = takeKeptDomains([set('a.example.')], clock);
  closed.close();
  expect(clock.pending).toBe(0);
});
