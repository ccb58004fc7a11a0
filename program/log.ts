import { destination, type Logger, pino, stdTimeFunctions } from 'pino';
import type { LogLevel } from './flags.ts';

/**
 * The log of a program, on stdout: a line of JSON for each thing, with the time as ISO 8601 in UTC. Synchronous: the last lines before
 * the exit are the ones that matter.
 */
export const openLog = (name: string, level: LogLevel): Logger =>
  pino({ name, level, timestamp: stdTimeFunctions.isoTime }, destination({ dest: 1, sync: true }));
