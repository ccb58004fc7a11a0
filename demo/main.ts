/** `make demo`. Exit status 0 only when observed equals expected everywhere. */
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { messageOf } from '../base/error-message.ts';
import { runDemo } from './demo.ts';
import { DemoError, Interruption } from './errors.ts';
import { readOptions } from './options.ts';
import { createTerminal, type Terminal } from './terminal.ts';

const USAGE_STATUS = 2;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

const main = async (): Promise<number> => {
  const terminal = createTerminal(process.stdout);
  const stop = new AbortController();
  const interrupt = (why: string, status: number): void => {
    if (stop.signal.aborted) terminal.note(`${why}: cleaning up already`);
    else stop.abort(new Interruption(why, status));
  };
  for (const signal of SIGNALS) process.on(signal, () => interrupt(signal, 128 + constants.signals[signal]));
  // For example `make demo | head`: nobody reads on, but there is a cluster to take down.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => stop.abort(new Interruption('the output is closed', 1)));
  }
  try {
    const options = readOptions(process.argv.slice(2), dirname(import.meta.dirname));
    return (await runDemo(options, terminal, stop.signal)) ? 0 : 1;
  } catch (error) {
    return report(error, terminal);
  }
};

const report = (error: unknown, { block, paint }: Terminal): number => {
  if (error instanceof Interruption) {
    block(paint('bad', `interrupted: ${error.message}`));
    return error.status;
  }
  block(paint('bad', `\nfailed: ${messageOf(error)}`));
  if (!(error instanceof DemoError)) return 1;
  for (const line of error.details) block(`  ${line}`);
  return error.code === 'ERR_DEMO_USAGE' ? USAGE_STATUS : 1;
};

// Waits that were given up would keep the process until they time out.
process.exit(await main());
