import { describe, expect, it } from 'vitest';
import { dnsNameResolverName } from '../../api/dns-name-resolver.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import { parseWildcardName } from '../../net/domain-name.ts';
import type { Ip } from '../../net/ip.ts';
import { createAgentMetrics } from '../metrics/metrics.ts';
import { observeWildcards, problemsOfWildcards } from './observe-wildcards.ts';
import { readWildcard, type WildcardRecord } from './wildcard-record.ts';
import { WildcardNames } from './wildcards.ts';

const NAME = parseWildcardName('*.example.com');
const OTHER = parseWildcardName('*.example.org');
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
type Told = Readonly<Record<string, readonly [ips: readonly string[], ttlSeconds: number, answered: number]>>;

const scene = () => {
  const clock = createFakeClock();
  const records = createStaticCache<WildcardRecord>();
  const served = { isServed: true, silenceMs: 0, unreadable: undefined as string | undefined };
  const heard: string[] = [];
  const names = new WildcardNames({
    source: {
      ...{ namespace: 'ovn-udn', records, unreadable: () => served.unreadable },
      ...{ isServed: () => served.isServed, silenceMs: () => served.silenceMs },
    },
    clock,
    refusalOf: (ip: Ip) => (ip.startsWith('10.') ? 'is in the cluster subnet 10.0.0.0/8' : undefined),
  });
  names.onChange((name, addresses) => heard.push(`${name} ${addresses.join(',')}`));
  const keyOf = (name = NAME) => `ovn-udn/${dnsNameResolverName(name)}`;
  /** What pods have been told `answered` ago. */
  const write = (told: Told, wildcard = NAME, key = keyOf(wildcard)): void => {
    const resolvedNames = Object.entries(told).map(([dnsName, [ips, ttlSeconds, answered]]) => ({
      dnsName,
      resolvedAddresses: ips.map((ip) => ({
        ...{ ip, ttlSeconds },
        lastLookupTime: new Date(clock.wall() - answered).toISOString(),
      })),
    }));
    records.set(key, readWildcard({ spec: { name: wildcard }, status: { resolvedNames } }));
  };
  return { clock, records, served, heard, names, keyOf, write };
};

describe('a wildcard', () => {
  it('stands for what pods have been told, at once, and until five minutes after it has lived its time', async () => {
    const { names, write, heard, clock } = scene();
    write({ 'a.example.com.': [['192.0.2.1'], 30, 0] });
    const release = names.want(NAME, 'firewall');
    expect(heard).toEqual([`${NAME} 192.0.2.1`]);
    await clock.advance(10 * SECOND);
    write({ 'a.example.com.': [['192.0.2.1'], 30, 10 * SECOND], 'b.example.com.': [['2001:db8::1'], 60, 0] });
    expect(heard.at(-1)).toBe(`${NAME} 192.0.2.1,2001:db8::1`);
    expect(names.state(NAME)).toMatchObject({ kind: 'resolved', answeredAgo: 0, notes: [] });
    await clock.advance(5 * MINUTE + 21 * SECOND);
    expect(heard.at(-1)).toBe(`${NAME} 2001:db8::1`);
    await clock.advance(MINUTE);
    expect(heard.at(-1)).toBe(`${NAME} `);
    release();
    expect([names.state(NAME), clock.pending]).toEqual([undefined, 0]);
  });

  it('leaves out addresses that no rule may be about, and says which', () => {
    const { names, write, heard } = scene();
    write({ 'a.example.com.': [['192.0.2.1', '10.0.0.1'], 30, 0] });
    names.want(NAME, 'firewall');
    expect(heard).toEqual([`${NAME} 192.0.2.1`]);
    expect(names.state(NAME)?.notes).toEqual(['left out: 10.0.0.1 is in the cluster subnet 10.0.0.0/8']);
  });

  it('has 256 addresses of a family, those that end last, and does not live longer for a clock that is ahead', async () => {
    const { names, write, heard, clock } = scene();
    const old = Array.from({ length: 300 }, (_, at) => `198.51.${at >> 8}.${at & 255}`);
    write({
      'a.example.com.': [old, 30, MINUTE],
      'b.example.com.': [['192.0.2.1', '2001:db8::1'], 2 ** 31 - 1, -1e12],
    });
    names.want(NAME, 'firewall');
    const { addresses = [], notes } = names.state(NAME) ?? {};
    expect([addresses.length, addresses.includes('192.0.2.1' as Ip), notes]).toEqual([
      ...[257, true, ['45 IPv4 addresses more than the 256 that count are left out']],
    ]);
    await clock.advance(66 * MINUTE);
    expect(heard.at(-1)).toBe(`${NAME} `);
  });

  it('stands for nothing by an object of another wildcard', () => {
    const { names, write, heard, keyOf } = scene();
    names.want(NAME, 'firewall');
    write({ 'a.example.org.': [['192.0.2.1'], 30, 0] }, OTHER, keyOf(NAME));
    expect(heard).toEqual([]);
    expect(names.state(NAME)?.problem).toContain('is of another name, *.example.org.');
  });

  it('keeps what ends while the API server is silent, for an hour', async () => {
    const { names, write, heard, clock, served } = scene();
    write({ 'a.example.com.': [['192.0.2.1'], 30, 0] });
    names.want(NAME, 'firewall');
    served.silenceMs = 3 * MINUTE;
    await clock.advance(60 * MINUTE);
    expect(heard).toEqual([`${NAME} 192.0.2.1`]);
    await clock.advance(7 * MINUTE);
    expect(heard.at(-1)).toBe(`${NAME} `);
    write({ 'a.example.com.': [['192.0.2.2'], 30, 0] });
    await clock.advance(10 * MINUTE);
    served.silenceMs = 0;
    await clock.advance(MINUTE);
    expect(heard.slice(2)).toEqual([`${NAME} 192.0.2.2`, `${NAME} `]);
  });

  it('whose addresses are others each time changes its sets seldom, the more there are of them', async () => {
    const { names, write, heard, clock } = scene();
    for (let at = 0; at < 100; at += 1) names.want(parseWildcardName(`*.n${at}.example`), 'firewall');
    names.want(NAME, 'firewall');
    names.want(NAME, 'firewall');
    for (let at = 0; at < 60; at += 1) {
      write({ 'a.example.com.': [[`192.0.2.${at}`], 30, 0] });
      await clock.advance(SECOND / 10);
    }
    expect(heard.length).toBeGreaterThan(3);
    expect(heard.length).toBeLessThan(8);
    await clock.advance(2 * SECOND);
    expect(heard.at(-1)).toBe(`${NAME} 192.0.2.59`);
  });

  it('ends with its object', async () => {
    const { names, write, heard, records, keyOf, clock } = scene();
    write({ 'a.example.com.': [['192.0.2.1'], 30, 0] });
    names.want(NAME, 'administrator');
    records.remove(keyOf());
    await clock.advance(SECOND);
    expect(heard.at(-1)).toBe(`${NAME} `);
  });
});

describe('what is said of wildcards', () => {
  const problems = (names: WildcardNames) => problemsOfWildcards('n1', names).map(({ message }) => message);

  it('is what is missing: the kind, the object, the plugin', async () => {
    const { names, write, served, keyOf } = scene();
    expect(problems(names)).toEqual([]);
    const metrics = createAgentMetrics();
    observeWildcards(metrics, names);
    const counts = async () =>
      (await metrics.text()).split('\n').filter((line) => line.startsWith('udn_agent_wildcard'));
    names.want(NAME, 'firewall');
    served.isServed = false;
    const head = 'wildcards of domain names are not followed: *.example.com: ';
    const tail = '; rules with them allow nothing by them';
    expect(problems(names)).toEqual([
      `${head}the API server has no DNSNameResolver (network.openshift.io/v1alpha1)${tail}`,
    ]);
    served.isServed = true;
    expect(problems(names)).toEqual([
      `${head}there is no DNSNameResolver ${keyOf()} yet: udn-cluster-manager creates it, with --dns-name-resolver${tail}`,
    ]);
    expect(await counts()).toContain('udn_agent_wildcards{state="unfollowed"} 1');
    served.unreadable = 'spec.name: is required';
    expect(problems(names)).toEqual([
      `${head}DNSNameResolver ${keyOf()} cannot be read: spec.name: is required${tail}`,
    ]);
    served.unreadable = undefined;
    write({});
    expect(problems(names)).toEqual([expect.stringMatching(/no plugin has answered yet.*ocp_dnsnameresolver/)]);
    expect(names.state(NAME)).toMatchObject({ kind: 'unresolved', problem: 'no plugin has answered yet' });
    // That of another one says that a plugin is there: nobody has asked for names of this.
    names.want(OTHER, 'firewall');
    write({ 'a.example.org.': [['192.0.2.1'], 30, 0] }, OTHER);
    expect(problems(names)).toEqual([]);
    expect(await counts()).toEqual([
      'udn_agent_wildcards{state="answered"} 1',
      'udn_agent_wildcards{state="unanswered"} 1',
      'udn_agent_wildcards{state="unfollowed"} 0',
      'udn_agent_wildcard_addresses 1',
    ]);
  });

  it('is that there are too many', () => {
    const { names } = scene();
    for (let at = 0; at < 2_000; at += 1) names.want(parseWildcardName(`*.n${at}.example`), 'firewall');
    const release = names.want(NAME, 'firewall');
    expect(names.state(NAME)?.problem).toBe('this node follows 2000 wildcards of such rules already, and not this one');
    release();
    names.want(NAME, 'administrator');
    expect(names.state(NAME)?.problem).toContain('there is no DNSNameResolver');
  });
});
