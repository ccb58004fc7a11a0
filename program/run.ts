/** The frame of a program: usage errors, failures at start, and the signals that end it. */
import { messageOf } from '../base/error-message.ts';
import { UsageError } from './errors.ts';
import { nameProcess } from './process-name.ts';

/** Runs `main`; when it fails, says so on standard error and sets the exit status: 2 for usage, 1 otherwise. */
export const runProgram = async (name: string, main: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  nameProcess(name);
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
  try {
    await main(stop.signal);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`${name}: ${messageOf(error)}\n`);
    if (isUsage) process.stderr.write(`Try: ${name} --help\n`);
    process.exitCode = isUsage ? 2 : 1;
  }
};
