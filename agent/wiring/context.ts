/** What every part of the agent's start is told. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { LogLevelControl } from '../../program/log-level.ts';
import type { AgentOptions } from '../options/options.ts';

export interface AgentContext {
  readonly options: AgentOptions;
  /** Where the build has put the shim and the addons. */
  readonly buildFolder: string;
  readonly log: Logger;
  /** Of `log`, and of all its children. */
  readonly level: LogLevelControl;
  /** Ends the agent. */
  readonly signal: AbortSignal;
}

export const spawnAddonIn = (buildFolder: string): string => join(buildFolder, 'spawn.node');
