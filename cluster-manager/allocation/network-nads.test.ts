import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { compareByAge } from '../../api/object.ts';
import { nadFacts } from '../facts/nad-facts.ts';
import { nad, netConf } from '../testing/objects.ts';
import { isReserved, NetworkNads } from './network-nads.ts';
import type { NadRecord } from './network-records.ts';
import { NetworkRegistry } from './network-registry.ts';

const NETWORK = 'cluster_udn_wide';

const record = (namespace: string, { isOwn = true, isGiven = true, createdAt = '2026-01-01T00:00:00Z' } = {}) => {
  const annotations = isGiven ? { 'k8s.ovn.org/network-name': NETWORK, 'k8s.ovn.org/network-id': '1' } : {};
  const key = `${namespace}/wide`;
  const facts = nadFacts(nad(key, netConf(key, NETWORK), { creationTimestamp: createdAt, annotations }));
  if (facts.conf === undefined) throw new Error('no configuration');
  return { ...facts, conf: facts.conf, isOwn } satisfies NadRecord;
};

/** By a look at all of them. */
const expectedOf = (all: readonly NadRecord[]): NadRecord | undefined => {
  const own = all.filter(({ isOwn }) => isOwn);
  const candidates = own.length > 0 ? own : all.filter((one) => !isReserved(one));
  return candidates.toSorted((a, b) => compareByAge(a.metadata, b.metadata))[0];
};

describe('NADs of networks', () => {
  it('finds the NAD that defines a network, whatever changes', () => {
    const change = fc.record({
      namespace: fc.constantFrom('a', 'b', 'c', 'd'),
      isThere: fc.boolean(),
      isOwn: fc.boolean(),
      isGiven: fc.boolean(),
      createdAt: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const nads = new NetworkNads();
        const all = new Map<string, NadRecord>();
        for (const { namespace, isThere, ...fields } of changes) {
          const one = record(namespace, fields);
          if (isThere) {
            nads.set(one);
            all.set(one.key, one);
          } else {
            nads.delete(NETWORK, one.key);
            all.delete(one.key);
          }
          expect(nads.definitionOf(NETWORK)).toBe(expectedOf([...all.values()]));
          expect([...nads.of(NETWORK)]).toEqual([...all.values()]);
          expect(nads.has(NETWORK)).toBe(all.size > 0);
        }
      }),
      { numRuns: 100 },
    );
  });

  it.each([10, 100])('looks at few others when one of %i NADs comes, changes and goes', (count) => {
    let looks = 0;
    const counting: ProxyHandler<NadRecord['metadata']> = {
      get: (...at) => {
        looks += 1;
        return Reflect.get(...at) as unknown;
      },
    };
    const watched = (one: NadRecord): NadRecord => ({ ...one, metadata: new Proxy(one.metadata, counting) });
    const registry = new NetworkRegistry(parseClusterConfig());
    const names = Array.from({ length: count }, (_, index) => `w${String(index).padStart(3, '0')}`);
    for (const name of names) registry.upsert(watched(record(name)));
    const looksOf = (event: () => void): number => {
      looks = 0;
      event();
      return looks;
    };
    const last = record('x');
    expect(looksOf(() => registry.upsert(watched(last)))).toBeLessThan(50);
    expect(looksOf(() => registry.upsert(watched(last)))).toBeLessThan(50);
    expect(looksOf(() => registry.upsert(watched(record('w000'))))).toBeLessThan(50);
    expect(looksOf(() => registry.remove(last.key))).toBeLessThan(50);
    expect(registry.nadsOf(NETWORK)).toHaveLength(count);
  });
});
