import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino';
import { systemClock } from '../base/clock.ts';
import type { LogLevel } from './flags.ts';
import { errorFields } from './log-errors.ts';
import { LogLevelControl } from './log-level.ts';

export interface Log {
  readonly log: Logger;
  readonly level: LogLevelControl;
}

/**
 * The log of a program, on stdout: a line of JSON for each thing, with the time as ISO 8601 in UTC. Synchronous: the last lines before
 * the exit are the ones that matter.
 */
export const openLog = (name: string, level: LogLevel): Log => {
  const control = new LogLevelControl(level, systemClock);
  return { log: createLog(name, control, destination({ dest: 1, sync: true })), level: control };
};

/**
 * Children of a pino logger have the level that it had when they were made, and keep it. So all of them let everything pass, and
 * one hook in front of them decides: a line that is not enabled costs 3.3 ns instead of 1.9.
 */
export const createLog = (name: string, control: LogLevelControl, stream: DestinationStream): Logger =>
  pino(
    {
      name,
      level: 'trace',
      timestamp: stdTimeFunctions.isoTime,
      serializers: { err: errorFields },
      hooks: {
        logMethod(args, method, level) {
          if (control.isEnabled(level)) method.apply(this, args);
        },
      },
    },
    stream,
  );
