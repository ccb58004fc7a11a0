/** The OpenFlow side of this machine, for programs: with ovs-ofctl on their PATH. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { openCommandRunner } from '../exec/spawn-runner.ts';
import { OpenflowBackend, type OpenflowBackendOptions } from './backend.ts';
import { Ofctl } from './ofctl.ts';

export interface OpenOptions {
  /** Where ovs-vswitchd has its sockets; default `/var/run/openvswitch`. */
  readonly runDirectory?: string | undefined;
  /** What `make build` makes of `datapath/exec/native`: for processes that may be large. */
  readonly spawnAddon?: string | undefined;
  /** See `OfctlOptions`. */
  readonly only?: ReadonlyMap<string, string> | undefined;
}

export const openOpenflowBackend = (options: Omit<OpenflowBackendOptions, 'client'> & OpenOptions): OpenflowBackend => {
  const { runDirectory, spawnAddon, only } = options;
  const client = new Ofctl({ runner: openCommandRunner(spawnAddon), runDirectory, guard: parentGuard(), only });
  return new OpenflowBackend({ ...options, client });
};

/**
 * setpriv(1) lets the kernel end a program with the thread that started it (prctl(2), PR_SET_PDEATHSIG): a flow monitor does
 * not notice by itself that this process was killed, and would stay until its bridge goes. Without setpriv it stays.
 */
export const parentGuard = (path = process.env['PATH'] ?? ''): readonly string[] =>
  path.split(delimiter).some((folder) => folder !== '' && isExecutable(join(folder, 'setpriv')))
    ? ['setpriv', '--pdeathsig', 'KILL', '--']
    : [];

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
