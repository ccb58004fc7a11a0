/** `udnctl`: shows and explains what is programmed. */
import { CommanderError } from 'commander';
import { messageOf } from '../base/error-message.ts';
import { nameProcess } from '../program/process-name.ts';
import { COMPLETE, complete } from './completion/commands.ts';
import { CliError } from './errors.ts';
import { createProgram } from './program.ts';

// Who reads may stop before the end, as head(1) does (EPIPE), or close the terminal (EIO) while there is something to clean up.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
  });

nameProcess('udnctl');

/** As the other programs have it. */
const USAGE = 2;

try {
  // bin/kubectl-udn says so.
  const udnctl = createProgram(process.env['UDNCTL_PROGRAM']);
  const [, , first, ...words] = process.argv;
  if (first === COMPLETE) process.stdout.write(await complete(udnctl, words, process.env));
  else await udnctl.parseAsync(process.argv);
} catch (error) {
  // commander has said itself what is wrong with the command line.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE;
  else {
    process.stderr.write(`udnctl: ${messageOf(error)}\n`);
    process.exitCode = error instanceof CliError ? error.exitStatus : 1;
  }
}
