import { constants } from 'node:os';
import type { Command } from 'commander';
import { SandboxError } from '../errors.ts';
import { CONTROL_PLANE, KILLABLE, type KillableName } from '../plan/daemons.ts';
import { connectControl } from '../supervisor/control-client.ts';
import { type NameOption, sandboxCommand } from './options.ts';

export const addKillCommand = (program: Command): void => {
  sandboxCommand(program, 'kill <node> <program>')
    .description(
      `send a signal to a program of a node, or of ${CONTROL_PLANE} (${KILLABLE.join(', ')}); the supervisor restarts it when it ends`,
    )
    .option('--signal <signal>', 'a number or a name', 'TERM')
    .action(async (node: string, given: string, { name, signal }: NameOption & { readonly signal: string }) => {
      const target = KILLABLE.find((known) => known === given);
      if (target === undefined) {
        throw new SandboxError('ERR_SANDBOX_USAGE', `"${given}" is none of ${KILLABLE.join(', ')}`);
      }
      await connectControl(name).kill(node, target satisfies KillableName, parseSignal(signal));
    });
};

/** `9`, `KILL` or `SIGKILL`. */
const parseSignal = (text: string): number => {
  const known: Readonly<Record<string, number>> = constants.signals;
  const number = /^\d+$/.test(text) ? Number(text) : known[text.startsWith('SIG') ? text : `SIG${text}`];
  if (number === undefined || number < 1 || number > 64) {
    throw new SandboxError('ERR_SANDBOX_USAGE', `"${text}" is not a signal`);
  }
  return number;
};
