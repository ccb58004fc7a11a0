import { expect, it } from 'vitest';
import { type DomainName, parseDomainName, parseWildcardName } from '../../net/domain-name.ts';
import { type Ip, parseIp } from '../../net/ip.ts';
import { splitNames } from './split-names.ts';
import type { DnsNames } from './types.ts';

const names = () => {
  const wanted: DomainName[] = [];
  const listeners = new Set<(name: DomainName, addresses: readonly Ip[]) => void>();
  const own: DnsNames = {
    want: (name) => {
      wanted.push(name);
      return () => wanted.splice(wanted.indexOf(name), 1);
    },
    state: (name) => ({ kind: wanted.includes(name) ? 'resolved' : 'unresolved', addresses: [] }),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return { wanted, listeners, own };
};
const [PLAIN, WILD] = [parseDomainName('www.example.com'), parseWildcardName('*.example.com')];

it('asks of each name who follows such names, and hears of both', () => {
  const [plain, wild] = [names(), names()];
  const both = splitNames(plain.own, wild.own);
  const releases = [both.want(PLAIN, 'firewall'), both.want(WILD, 'firewall')];
  expect([plain.wanted, wild.wanted, both.state(WILD)?.kind]).toEqual([[PLAIN], [WILD], 'resolved']);
  const heard: string[] = [];
  const end = both.onChange((name, addresses) => heard.push(`${name} ${addresses.join()}`));
  for (const { listeners } of [plain, wild]) for (const one of listeners) one(PLAIN, [parseIp('192.0.2.1')]);
  expect(heard).toHaveLength(2);
  for (const release of releases) release();
  end();
  expect([plain.wanted, wild.wanted, plain.listeners.size, wild.listeners.size]).toEqual([[], [], 0, 0]);
});

it('are the plain ones alone where no wildcard is followed', () => {
  const { own } = names();
  expect(splitNames(own, undefined)).toBe(own);
});
