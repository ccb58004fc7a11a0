/** The nftables of this machine, for programs: with nft on their PATH. */
import { openCommandRunner } from '../exec/spawn-runner.ts';
import { parentGuard } from '../openflow/open.ts';
import { createNftables, type NftablesBackend, type NftablesOptions } from './backend.ts';

export interface OpenNftablesOptions extends Pick<NftablesOptions, 'schedule' | 'onWritten' | 'onMonitored'> {
  /** What `make build` makes of `datapath/exec/native`: for processes that may be large. */
  readonly spawnAddon?: string | undefined;
}

export const openNftables = ({ spawnAddon, ...options }: OpenNftablesOptions = {}): NftablesBackend =>
  createNftables({ ...options, runner: openCommandRunner(spawnAddon), guard: parentGuard() });
