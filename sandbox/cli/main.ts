/** `sandbox`: a cluster on this machine. */
import { CommanderError } from 'commander';
import { messageOf } from '../../base/error-message.ts';
import { ProgramCommand } from '../../program/program-command.ts';
import { findArtifacts } from '../artifacts.ts';
import { SandboxError } from '../errors.ts';
import { addApiCommand } from './api.ts';
import { addDownCommand } from './down.ts';
import { addEnterCommands } from './enter.ts';
import { addKillCommand } from './kill.ts';
import { addObjectCommands } from './objects.ts';
import { addStatusCommand } from './status.ts';
import { addSuperviseCommand } from './supervise.ts';
import { addUpCommand } from './up.ts';
import { addWaitCommand } from './wait.ts';

/** A wrong use of the command line, as with git and others. */
const USAGE_STATUS = 2;

const main = async (): Promise<number> => {
  const program = new ProgramCommand('sandbox')
    .description('A Kubernetes cluster with real OVS and OVN on this machine: nodes are namespaces.')
    .version(`sandbox ${findArtifacts().version}`)
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('(see --help)');
  let status = 0;
  const onStatus = (value: number): void => {
    status = value;
  };
  addUpCommand(program);
  addObjectCommands(program);
  addWaitCommand(program);
  addEnterCommands(program, onStatus);
  addKillCommand(program);
  addStatusCommand(program);
  addDownCommand(program);
  addApiCommand(program);
  addSuperviseCommand(program);
  await program.parseAsync();
  return status;
};

const statusOf = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_STATUS;
  process.stderr.write(`${messageOf(error)}\n`);
  return error instanceof SandboxError && error.code === 'ERR_SANDBOX_USAGE' ? USAGE_STATUS : 1;
};

// Who reads may stop reading: `sandbox get pods | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await main().catch(statusOf);
