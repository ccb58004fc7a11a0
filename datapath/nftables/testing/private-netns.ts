/** A network namespace of a test's own. It goes with the process that holds it, which ends when its stdin does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface PrivateNetns {
  /** Runs what follows inside. */
  readonly enter: readonly [string, ...string[]];
  close(): Promise<void>;
}

export const privateNetns = async (): Promise<PrivateNetns> => {
  const holder = spawn('unshare', ['--net', 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(holder, 'exit');
  holder.stdin.write('ready\n');
  // What cat repeats comes from inside.
  await once(holder.stdout, 'data');
  return {
    enter: ['nsenter', `--net=/proc/${holder.pid}/ns/net`],
    close: async () => {
      holder.stdin.end();
      await exited;
    },
  };
};
