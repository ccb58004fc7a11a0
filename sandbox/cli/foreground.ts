/** Runs a command as a shell would: it has the terminal, gets the signals, and its exit status counts. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { CommandLine } from '../machine/types.ts';

const HANDED_ON = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;

/** The exit status; 128 and the signal's number when a signal ended it. */
export const runInForeground = ({ file, args }: CommandLine): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: 'inherit' });
    // A terminal sends its signals to the command as well.
    const isFromTerminal = (signal: string): boolean =>
      process.stdin.isTTY === true && (signal === 'SIGINT' || signal === 'SIGQUIT');
    const handOn = (signal: NodeJS.Signals): void => {
      if (!isFromTerminal(signal)) child.kill(signal);
    };
    for (const signal of HANDED_ON) process.on(signal, handOn);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const handled of HANDED_ON) process.removeListener(handled, handOn);
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
    });
  });
