/** The nftables of this machine, for programs: with nft on their PATH. */
import { createCommandRunner } from '../exec/execa-runner.ts';
import { parentGuard } from '../openflow/open.ts';
import { createNftables, type NftablesBackend, type NftablesOptions } from './backend.ts';

export const openNftables = (options: Pick<NftablesOptions, 'schedule'> = {}): NftablesBackend =>
  createNftables({ ...options, runner: createCommandRunner(), guard: parentGuard() });
