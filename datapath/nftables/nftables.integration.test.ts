import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createNftables } from './backend.ts';
import { nftablesSuite } from './nftables.suite.ts';
import { randomTable } from './testing/random-tables.ts';
import { realNft } from './testing/real-nft.ts';

nftablesSuite('nft', realNft);

it('brings any table to any other, and knows after a restart that it is right', async () => {
  const { close, ...nft } = await realNft();
  const { signal } = new AbortController();
  const backend = createNftables(nft);
  try {
    await fc.assert(
      fc.asyncProperty(randomTable, async (desired) => {
        const request = { desired, keys: 'all', prune: true } as const;
        expect((await backend.reconcile(request, signal)).failed).toEqual(new Map());
        const restarted = createNftables(nft);
        expect(await restarted.difference(desired)).toEqual([]);
        expect((await restarted.reconcile(request, signal)).written).toBe(0);
      }),
      { numRuns: 40 },
    );
  } finally {
    await close();
  }
});
