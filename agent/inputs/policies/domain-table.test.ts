import { describe, expect, it } from 'vitest';
import { parseDomainName } from '../../../net/domain-name.ts';
import { FactStore } from '../../model/fact-store.ts';
import { DomainTable } from './domain-table.ts';

describe('DomainTable', () => {
  it('keeps a set per network and name from the first to the last use', () => {
    const facts = new FactStore();
    const table = new DomainTable(facts);
    const name = parseDomainName('www.example.com');
    const first = table.acquire('blue', name);
    expect(table.acquire('blue', name)).toBe(first);
    const other = table.acquire('default', name);
    expect(other).not.toBe(first);
    expect(facts.get('domainSet', first)).toEqual({ network: 'blue', name });
    table.release(first);
    expect([...facts.ids('domainSet')]).toEqual([first, other]);
    table.release(first);
    table.release(other);
    expect([...facts.ids('domainSet')]).toEqual([]);
  });
});
