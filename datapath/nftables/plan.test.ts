import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNftables } from './backend.ts';
import { FakeNft } from './fake-nft.ts';
import { scriptOf } from './operations.ts';
import { planOf } from './plan.ts';
import { emptyTable } from './table-state.ts';
import { randomTable } from './testing/random-tables.ts';
import { type NftItem, nftItemKey } from './types.ts';

const signal = new AbortController().signal;
const { stringify } = JSON;

describe('a plan', () => {
  it('brings any table to any other, and then there is nothing to do, also for one who remembers nothing', async () => {
    await fc.assert(
      fc.asyncProperty(randomTable, randomTable, async (before, after) => {
        const runner = new FakeNft();
        const backend = createNftables({ runner });
        await backend.reconcile({ desired: before, keys: 'all', prune: true }, signal);
        expect(await backend.reconcile({ desired: after, keys: 'all', prune: true }, signal)).toMatchObject({
          failed: new Map(),
        });
        const scripts = runner.scripts.length;
        expect((await backend.reconcile({ desired: after, keys: 'all', prune: true }, signal)).written).toBe(0);
        expect(runner.scripts.length).toBe(scripts);
        const restarted = createNftables({ runner });
        expect((await restarted.reconcile({ desired: after, keys: 'all', prune: true }, signal)).written).toBe(0);
        expect(await restarted.difference(after)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('of only what changed leads to the same as one of everything', async () => {
    await fc.assert(
      fc.asyncProperty(randomTable, randomTable, async (before, after) => {
        const runner = new FakeNft();
        const backend = createNftables({ runner });
        await backend.reconcile({ desired: before, keys: 'all', prune: true }, signal);
        const keys = new Set(
          [...before.keys(), ...after.keys()].filter((key) => stringify(before.get(key)) !== stringify(after.get(key))),
        );
        const { failed } = await backend.reconcile({ desired: after, keys, prune: true }, signal);
        expect(failed).toEqual(new Map());
        expect(await backend.difference(after)).toEqual([]);
        expect((await backend.reconcile({ desired: after, keys: 'all', prune: true }, signal)).written).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('finds every chain, set and element that is not as it was', async () => {
    await fc.assert(
      fc.asyncProperty(randomTable, randomTable, async (desired, other) => {
        const runner = new FakeNft();
        await createNftables({ runner }).reconcile({ desired: other, keys: 'all', prune: true }, signal);
        const differences = await createNftables({ runner }).difference(desired);
        const isSame = planOf({ desired, actual: emptyTable(), keys: 'all', prune: true, forms: new Map() });
        const again = planOf({ desired: other, actual: emptyTable(), keys: 'all', prune: true, forms: new Map() });
        // The same commands from nothing make the same table; comments are cut, so texts may differ.
        const same = desired.size > 0 && other.size > 0 && sorted(scriptOf(isSame)) === sorted(scriptOf(again));
        expect(differences.length === 0).toBe(same || (desired.size === 0 && other.size === 0));
      }),
      { numRuns: 300 },
    );
  });

  it('is one transaction that begins with what lets go and ends with what holds', () => {
    const desired = new Map(
      (
        [
          { kind: 'chain', chain: { name: 'c', rules: ['ip daddr @s accept', 'jump d'] } },
          { kind: 'chain', chain: { name: 'd', rules: ['drop'] } },
          { kind: 'element', element: { set: 's', key: '10.0.0.1', comment: 'red/web' } },
          { kind: 'set', set: { name: 's', type: 'ipv4_addr', interval: true } },
        ] satisfies NftItem[]
      ).map((item) => [nftItemKey(item), item]),
    );
    const actual = emptyTable();
    actual.chains.set('old', { header: [], rules: ['ip daddr @s accept'] });
    actual.sets.set('s', { kind: 'set', header: ['type ipv4_addr'], elements: new Map() });
    expect(scriptOf(planOf({ desired, actual, keys: 'all', prune: true, forms: new Map() }))).toBe(
      `add table inet ovn-udn
flush chain inet ovn-udn old
flush set inet ovn-udn s
delete chain inet ovn-udn old
delete set inet ovn-udn s
add set inet ovn-udn s { type ipv4_addr; flags interval; }
add chain inet ovn-udn c
add chain inet ovn-udn d
add element inet ovn-udn s { 10.0.0.1 comment "red/web" }
add rule inet ovn-udn c ip daddr @s accept
add rule inet ovn-udn c jump d
add rule inet ovn-udn d drop
`,
    );
  });

  it('of one network more among 500 names only that', async () => {
    const runner = new FakeNft();
    const backend = createNftables({ runner });
    const desired = new Map<string, NftItem>([['set names', { kind: 'set', set: { name: 'names', type: 'ifname' } }]]);
    const add = (id: number): string[] => {
      const items: NftItem[] = [
        { kind: 'element', element: { set: 'names', key: `"ovn-k8s-mp${id}"` } },
        { kind: 'chain', chain: { name: `mark-${id}`, rules: [`meta mark set ${4096 + id}`] } },
      ];
      for (const item of items) desired.set(nftItemKey(item), item);
      return items.map(nftItemKey);
    };
    for (let id = 1; id <= 500; id++) add(id);
    await backend.reconcile({ desired, keys: 'all', prune: true }, signal);
    await backend.reconcile({ desired, keys: new Set(add(501)), prune: true }, signal);
    expect(runner.scripts.at(-1)).toBe(
      `add table inet ovn-udn
add chain inet ovn-udn mark-501
add element inet ovn-udn names { "ovn-k8s-mp501" }
add rule inet ovn-udn mark-501 meta mark set 4597
`,
    );
  });
});

const sorted = (text: string): string => text.split('\n').sort().join('\n');
