/** What `up` starts in the background: owns the cluster until `down`, SIGTERM or SIGINT. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { messageOf } from '../../base/error-message.ts';
import { SandboxError } from '../errors.ts';
import { parseOptions, type SandboxOptionsInput } from '../plan/options.ts';
import type { OwnedControl } from '../supervisor/cluster-control.ts';
import type { SupervisorReport } from '../supervisor/detached.ts';
import { startOnKernel } from '../supervisor/start.ts';
import { stateFolder } from '../supervisor/state-folder.ts';

export const addSuperviseCommand = (program: Command): void => {
  program
    .command('supervise <options>', { hidden: true })
    .description('own a cluster (used by up)')
    .action(async (text: string) => {
      // Whoever started this process goes away; what it says then is said to nobody.
      for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
      process.exit(await supervise(JSON.parse(text) as SandboxOptionsInput));
    });
};

const supervise = async (input: SandboxOptionsInput): Promise<number> => {
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve()).once('SIGINT', () => resolve());
  });
  try {
    const options = parseOptions(input);
    const onError = (error: unknown): void => note(options.name, error);
    const progress = (message: string): void => report({ kind: 'progress', message });
    const control = await startOnKernel(options, { progress, onError, stop: stopped });
    report({ kind: 'up' });
    await untilDown(control, stopped);
    return 0;
  } catch (error) {
    const code = error instanceof SandboxError ? error.code : 'ERR_SANDBOX_PART';
    report({ kind: 'failed', code, message: messageOf(error) });
    return 1;
  }
};

const untilDown = async (control: OwnedControl, stopped: Promise<void>): Promise<void> => {
  await Promise.race([control.ended, stopped.then(() => control.down())]);
  await control.ended;
};

const report = (message: SupervisorReport): void => {
  process.stdout.write(`${JSON.stringify(message)}\n`);
};

/** Best effort: the folder may be gone already. */
const note = (name: string, error: unknown): void => {
  const line = `${new Date().toISOString()} ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
  try {
    appendFileSync(join(stateFolder(name).logs, 'supervisor.log'), line);
  } catch {
    // The sandbox went down meanwhile.
  }
};
