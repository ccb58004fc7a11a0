/**
 * Whether those answer who bring about the desired state. What they do not bring about is no difference: the rows are as
 * they should be, and nobody looks at them.
 */
import { controlSocket } from '../../datapath/exec/daemon-control.ts';
import type { CommandRunner } from '../../datapath/exec/types.ts';
import { VSWITCH_RUN_DIRECTORY } from '../../datapath/exec/vswitchd-control.ts';
import type { Transact } from '../flows/datapaths.ts';

const OVN_RUN_DIRECTORY = '/var/run/ovn';

interface Daemon {
  readonly name: string;
  readonly folder: string;
  readonly question: string;
  readonly healthy: RegExp;
}

/** ovn-northd(8), ovn-controller(8): `Runtime Management Commands`. A northd on standby works when the other one does not. */
const DAEMONS: readonly Daemon[] = [
  { name: 'ovs-vswitchd', folder: VSWITCH_RUN_DIRECTORY, question: 'version', healthy: /^/ },
  { name: 'ovn-northd', folder: OVN_RUN_DIRECTORY, question: 'status', healthy: /^Status: (active|standby)\b/ },
  { name: 'ovn-controller', folder: OVN_RUN_DIRECTORY, question: 'connection-status', healthy: /^connected\b/ },
];

export interface DaemonSources {
  readonly northbound: Transact;
  readonly southbound: Transact;
  readonly runner: Pick<CommandRunner, 'run'>;
  /** @returns its path; undefined when there is none */
  readonly controlSocket?: typeof controlSocket;
}

export type Look = (what: string, read: (signal: AbortSignal) => Promise<readonly never[]>) => Promise<unknown>;

/** All at once: who hangs keeps nobody from answering. */
export const lookAtDaemons = async (sources: DaemonSources, look: Look): Promise<void> => {
  await Promise.all([
    ...DAEMONS.map((daemon) => look(daemon.name, (signal) => askDaemon(daemon, sources, signal))),
    look('the northbound database', () => askDatabase(sources.northbound, 'NB_Global')),
    look('the southbound database', () => askDatabase(sources.southbound, 'SB_Global')),
  ]);
};

const askDaemon = async (
  { name, folder, question, healthy }: Daemon,
  { runner, controlSocket: find = controlSocket }: DaemonSources,
  signal: AbortSignal,
): Promise<readonly never[]> => {
  const socket = await find(name, folder);
  if (socket === undefined) throw new Error(`it is not running: no control socket in ${folder}`);
  const { stdout } = await runner.run({ file: 'ovs-appctl', args: ['--target', socket, question] }, signal);
  if (!healthy.test(stdout)) throw new Error(`it answers: ${stdout.trim()}`);
  return [];
};

const askDatabase = async (transact: Transact, table: string): Promise<readonly never[]> => {
  await transact([{ op: 'select', table, where: [], columns: ['_uuid'] }]);
  return [];
};
