import { FakeNft } from './fake-nft.ts';
import { nftablesSuite } from './nftables.suite.ts';

nftablesSuite('nft in memory', async () => ({ runner: new FakeNft(), command: ['nft'], close: async () => {} }));
