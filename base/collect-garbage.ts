/**
 * A full garbage collection of this thread that also drops compiled code. V8 would do so when the heap has grown to several times its
 * size, which in a daemon that is idle is never.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The thread stands still meanwhile: some milliseconds for every 10 MiB that are in use. */
export const collectGarbage = (): Promise<void> =>
  collector()({ type: 'major', execution: 'async', flavor: 'last-resort' });

type Collect = (options: {
  readonly type: 'major';
  readonly execution: 'async';
  readonly flavor: 'last-resort';
}) => Promise<void>;

/** V8 puts it into contexts that are made while the flag is set. */
const collector = (): Collect => {
  setFlagsFromString('--expose-gc');
  try {
    return runInNewContext('gc');
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
};
