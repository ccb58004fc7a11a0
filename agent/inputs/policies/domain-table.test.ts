import { describe, expect, it } from 'vitest';
import { parseDomainName } from '../../../net/domain-name.ts';
import { FactStore } from '../../model/fact-store.ts';
import { DomainTable, DomainUses } from './domain-table.ts';

describe('DomainTable', () => {
  it('keeps a set per network and name from the first to the last use', () => {
    const facts = new FactStore();
    const table = new DomainTable(facts);
    const name = parseDomainName('www.example.com');
    const first = table.acquire({ network: 'blue', name });
    expect(table.acquire({ network: 'blue', name })).toBe(first);
    const other = table.acquire({ network: 'default', name });
    expect(other).not.toBe(first);
    expect(facts.get('domainSet', first)).toEqual({ network: 'blue', name });
    table.release(first);
    expect([...facts.ids('domainSet')]).toEqual([first, other]);
    table.release(first);
    table.release(other);
    expect([...facts.ids('domainSet')]).toEqual([]);
  });

  it('releases all that one of its users has, and nothing of others', () => {
    const facts = new FactStore();
    const table = new DomainTable(facts);
    const name = parseDomainName('www.example.com');
    const [old, next] = [new DomainUses(table), new DomainUses(table)];
    const kept = old.acquire({ network: 'blue', name });
    old.acquire({ network: 'blue', name });
    const left = old.acquire({ network: 'red', name });
    next.acquire({ network: 'blue', name });
    next.release(left);
    expect([...facts.ids('domainSet')]).toEqual([kept, left]);
    old.end();
    expect([...facts.ids('domainSet')]).toEqual([kept]);
    old.release(kept);
    expect([...facts.ids('domainSet')]).toEqual([kept]);
    next.release(kept);
    expect([...facts.ids('domainSet')]).toEqual([]);
  });
});
