/** What `make build` says while it installs: somebody whose machine has no registry, no disk or no network needs the cause. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it('npm reports its errors, and what takes long is announced', async () => {
  const cwd = join(import.meta.dirname, '../..');
  // Printed, not run.
  const { stdout } = await run('make', ['--dry-run', '--always-make', 'build/.installed'], { cwd });
  const install = stdout.split('\n').find((line) => line.includes(' install ')) ?? '';
  expect(install).toContain('--loglevel=error');
  expect(install).not.toMatch(/--silent|--quiet|loglevel[= ]silent/);
  expect(stdout.indexOf('installing npm packages')).toBeGreaterThan(-1);
  expect(stdout.indexOf('installing npm packages')).toBeLessThan(stdout.indexOf(install));
});
