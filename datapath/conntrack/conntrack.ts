/**
 * Connections that the datapath and the kernel remember. Those of a network that is gone are forgotten: the next network
 * with its id has its marks and its masquerade addresses, and must not get answers meant for the one before.
 */
import { CommandError } from '../exec/errors.ts';
import { openCommandRunner } from '../exec/spawn-runner.ts';
import type { CommandRunner } from '../exec/types.ts';

export interface Conntrack {
  /**
   * Forgets what OVS' datapath remembers in a zone with a mark (ovs-vswitchd(8), dpctl/flush-conntrack).
   * @throws CommandError
   */
  flushMark(zone: number, mark: number, signal?: AbortSignal): Promise<void>;
  /**
   * Forgets what the kernel remembers of connections from or to an address (conntrack(8)). A node without the program
   * keeps them until they time out.
   * @returns false when there is no such program
   * @throws CommandError
   */
  flushAddress(address: string, signal?: AbortSignal): Promise<boolean>;
}

/** @param spawnAddon what `make build` makes of `datapath/exec/native`: for processes that may be large */
export const openConntrack = (spawnAddon: string): Conntrack => createConntrack(openCommandRunner(spawnAddon));

export const createConntrack = (runner: CommandRunner): Conntrack => ({
  flushMark: async (zone, mark, signal) => {
    const args = ['dpctl/flush-conntrack', `zone=${zone}`, `mark=0x${mark.toString(16)}`];
    await runner.run({ file: 'ovs-appctl', args }, signal);
  },
  flushAddress: async (address, signal) => {
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    for (const side of ['--orig-src', '--orig-dst', '--reply-src', '--reply-dst']) {
      try {
        await runner.run({ file: 'conntrack', args: ['--delete', '--family', family, side, address] }, signal);
      } catch (error) {
        if (isMissing(error)) return false;
        if (!foundNothing(error)) throw error;
      }
    }
    return true;
  },
});

const isMissing = (error: unknown): boolean => error instanceof CommandError && error.code === 'ERR_EXEC_NOT_FOUND';

/** It exits with 1 when there is nothing to delete. */
const foundNothing = (error: unknown): boolean =>
  error instanceof CommandError && /\b0 flow entries have been deleted/.test(error.stderr);
