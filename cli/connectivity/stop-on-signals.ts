/** Ends a run early, so that it deletes what it has created: Ctrl-C, SIGTERM, and a terminal that is closed. */
import { CliError } from '../errors.ts';

export interface SignalSource {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
}

/**
 * A closed terminal sends SIGHUP more than once, from the kernel and from the shell: none of them ends the deletion.
 * @param onSecond at a second signal of a user, who does not want to wait for the deletion
 */
export const stopOnSignals = (source: SignalSource, onSecond: () => void): AbortSignal => {
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (!stop.signal.aborted) stop.abort(new CliError(`interrupted by ${signal}`, 2));
    else if (signal !== 'SIGHUP') onSecond();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) source.on(signal, onSignal);
  return stop.signal;
};
