import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withLock } from './lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'udn-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('only one at a time works; the others get a message', async () => {
  const file = join(folder, 'lock');
  const events: string[] = [];
  const first = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  const one = withLock(
    file,
    () => {},
    async () => {
      events.push('one begins');
      first.resolve();
      await waiting.promise;
      events.push('one ends');
    },
  );
  await first.promise;
  await withLock(file, waiting.resolve, async () => {
    events.push('two begins');
  });
  await one;
  expect(events).toEqual(['one begins', 'one ends', 'two begins']);
});

it('is free again after a failure', async () => {
  const file = join(folder, 'lock');
  const failing = withLock(
    file,
    () => {},
    () => Promise.reject(new Error('x')),
  );
  await expect(failing).rejects.toThrow('x');
  const onWait = (): never => {
    throw new Error('it waits');
  };
  expect(await withLock(file, onWait, () => Promise.resolve(1))).toBe(1);
});

it('is free again when who holds it is killed', async () => {
  const file = join(folder, 'lock');
  const source = `import { withLock } from ${JSON.stringify(join(import.meta.dirname, 'lock.ts'))};
    await withLock(${JSON.stringify(file)}, () => {}, () => { console.log('held'); return new Promise(() => setInterval(() => {}, 1e6)); });`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const waits = Promise.withResolvers<void>();
  const second = withLock(file, waits.resolve, () => Promise.resolve('free'));
  await waits.promise;
  child.kill('SIGKILL');
  expect(await second).toBe('free');
});

it('names a folder that is not there', async () => {
  const work = withLock(
    join(folder, 'missing', 'lock'),
    () => {},
    () => Promise.resolve(),
  );
  await expect(work).rejects.toMatchObject({
    code: 'ERR_SANDBOX_MACHINE',
    message: expect.stringContaining('missing'),
  });
});
