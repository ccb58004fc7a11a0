/** Where and of what results are. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';

export const describeMachine = (): string => {
  const processor = cpus()[0]?.model.trim() || process.arch;
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  const load = (loadavg()[0] ?? 0).toFixed(1);
  return `${availableParallelism()} × ${processor}, ${gibibytes} GiB, Linux ${release()}, Node ${process.versions.node}, load ${load} at the start`;
};

/** `unknown` where there is no repository, for example in an archive. */
export const describeCommit = (): string => {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const commit = git('rev-parse', 'HEAD');
    return git('status', '--porcelain') === '' ? commit : `${commit}+`;
  } catch {
    return 'unknown';
  }
};

const ROOT = join(import.meta.dirname, '..');
