import { expect, it } from 'vitest';
import { type DomainName, parseDomainName } from '../../net/domain-name.ts';
import { type Ip, parseIp } from '../../net/ip.ts';
import { DomainTable } from '../inputs/policies/domain-table.ts';
import { FactStore } from '../model/fact-store.ts';
import { followDomains } from './follow-domains.ts';

it('wants each name while a set is of it, and keeps the fact about its addresses', () => {
  const facts = new FactStore();
  const wanted = new Map<DomainName, number>();
  let listener: (name: DomainName, addresses: readonly Ip[]) => void = () => {};
  const end = followDomains(facts, {
    want: (name) => {
      wanted.set(name, (wanted.get(name) ?? 0) + 1);
      // What an earlier agent has had is there at once.
      listener(name, [parseIp('192.0.2.7')]);
      return () => wanted.set(name, (wanted.get(name) ?? 0) - 1);
    },
    onChange: (given) => {
      listener = given;
      return () => {};
    },
  });
  const table = new DomainTable(facts);
  const name = parseDomainName('www.example.com');
  const [blue, red] = [table.acquire({ network: 'blue', name }), table.acquire({ network: 'red', name })];
  expect(wanted.get(name)).toBe(2);
  expect(facts.get('domainAddresses', name)).toEqual(['192.0.2.7']);
  listener(name, [parseIp('192.0.2.1')]);
  expect(facts.get('domainAddresses', name)).toEqual(['192.0.2.1']);
  table.release(blue);
  expect(facts.get('domainAddresses', name)).toEqual(['192.0.2.1']);
  listener(name, []);
  expect(facts.get('domainAddresses', name)).toBeUndefined();
  listener(name, [parseIp('192.0.2.1')]);
  table.release(red);
  expect(wanted.get(name)).toBe(0);
  expect(facts.get('domainAddresses', name)).toBeUndefined();
  // An answer that comes late.
  listener(name, [parseIp('192.0.2.1')]);
  expect([...facts.ids('domainAddresses')]).toEqual([]);
  const last = table.acquire({ network: 'red', name });
  end();
  expect(wanted.get(name)).toBe(0);
  table.release(last);
});
