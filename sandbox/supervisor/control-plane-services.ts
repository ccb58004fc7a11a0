/** Programs that run once for all nodes. */

import type { CommandLine } from '../machine/types.ts';
import { settingsEnvironment } from '../plan/cluster-settings.ts';
import type { KillableName } from '../plan/daemons.ts';
import { REPORT_FD, type Service, startService } from '../process/service.ts';
import {
  addService,
  type ClusterContext,
  type ClusterState,
  logPath,
  machineNamed,
  SERVICES,
} from './cluster-context.ts';

export interface OnceOptions {
  /** Whose network it uses; default: this machine's. Either way its pids end with the sandbox. */
  readonly machine?: string;
}

export const startOnce = (
  context: ClusterContext,
  state: ClusterState,
  name: KillableName | 'forwarder' | 'door' | 'konnectivity-server',
  { file, args }: CommandLine,
  { machine = SERVICES }: OnceOptions = {},
): Service => {
  const command = machineNamed(state, machine).enter([file, ...args], {
    cgroup: `${name}.service`,
    env: settingsEnvironment(context.options),
    reportPid: REPORT_FD,
  });
  const service = startService({ name, command, log: logPath(context, SERVICES, name) });
  addService(state, SERVICES, service);
  return service;
};
