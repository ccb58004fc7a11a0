import { expect, it } from 'vitest';
import { keptDomains } from './kept-domains.ts';

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
