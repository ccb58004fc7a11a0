/** tcpdump's command lines, and what it prints. Pure. */
import type { Command } from '../../datapath/exec/types.ts';
import type { Hop } from './hops.ts';

/** Whole packets of the usual MTU; of what the kernel hands on in one piece (GSO) the headers. */
export const SNAP_LENGTH = 1_600;

export interface Limits {
  readonly durationMs: number;
  /** Of each hop. */
  readonly count: number;
}

/**
 * timeout(1) ends it even if this process is killed. As root, who made the folder: tcpdump would become another user.
 * `--immediate-mode`, or the kernel would keep the last packets back; `-U`, so that the file has what was seen.
 */
export const captureCommand = (hop: Hop, file: string, { durationMs, count }: Limits): Command => ({
  file: 'timeout',
  args: [
    ...['--kill-after=2', String(Math.ceil(durationMs / 1_000) + GRACE_SECONDS), 'tcpdump'],
    ...['--interface', hop.interface, '-n', '--immediate-mode', '-U', '-Z', 'root'],
    ...['--snapshot-length', String(SNAP_LENGTH), '-c', String(count), '-w', file, '--', hop.filter],
  ],
  linesFrom: 'stderr',
});

const GRACE_SECONDS = 10;

/** Compiles the expression and opens nothing. */
export const compileCommand = (filter: string): Command => ({ file: 'tcpdump', args: ['-d', '--', filter] });

/** It captures from this line on. */
export const isListening = (line: string): boolean => /\blistening on /.test(line);

/** Packets that came and were not captured, by its last lines; zero for any other line. */
export const droppedIn = (line: string): number => Number(/^(\d+) packets? dropped by/.exec(line)?.[1] ?? 0);
