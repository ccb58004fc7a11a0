/** The real nft: of this machine, else of the sandbox's Debian tree. */
import { ensureTree, treeCommand } from '../../../sandbox/tree/tree.ts';
import { createCommandRunner } from '../../exec/node-runner.ts';
import { parentGuard } from '../../openflow/open.ts';
import type { NftHarness } from '../nftables.suite.ts';
import { privateNetns } from './private-netns.ts';

/** In a network namespace of its own. */
export const realNft = async (): Promise<NftHarness> => {
  const { enter, close } = await privateNetns();
  const { file, args } = treeCommand(await ensureTree(() => {}), 'usr/sbin/nft');
  return { runner: createCommandRunner(), command: [...enter, file, ...args], guard: parentGuard(), close };
};
