/** The process that cleans up after the supervisor, whether that ends in order or is killed. */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';

export interface Janitor {
  /** Ends everything in the sandbox's cgroups and removes cgroups and folder. Resolves when that is done. */
  clean(): Promise<void>;
}

export interface JanitorSpec {
  readonly toolbox: string;
  /** The sandbox's; its parent is removed with the last sandbox. */
  readonly cgroup: string;
  readonly folder: string;
}

export const startJanitor = ({ toolbox, cgroup, folder }: JanitorSpec): Janitor => {
  const child = spawn(
    toolbox,
    [
      'janitor',
      ...['--cgroup', cgroup],
      ...['--prune', dirname(cgroup)],
      ...['--remove', folder],
      ...['--prune', dirname(folder)],
    ],
    { stdio: ['pipe', 'ignore', 'ignore'] },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()));
  child.stdin.on('error', () => {});
  return {
    clean: () => {
      child.stdin.destroy();
      return ended;
    },
  };
};
