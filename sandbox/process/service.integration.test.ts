import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { eventually } from '../testing/eventually.ts';
import { logTail } from './log-tail.ts';
import { startService } from './service.ts';
import { waitForPath } from './wait-for-path.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'service-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const shell = (script: string) => ({ file: '/bin/sh', args: ['-c', script] });

it('a program that ends is started again after longer and longer waits', async () => {
  const clock = createFakeClock();
  const log = join(folder, 'log');
  const service = startService({ name: 'x', command: shell('echo up; exit 3'), log, clock });
  expect(await service.firstEnd).toBe('status 3');
  const starts = async (): Promise<number> => (await readFile(log, 'utf8')).match(/^up$/gm)?.length ?? 0;
  for (const [round, wait] of [100, 200, 400, 800, 1600, 3200, 5000, 5000].entries()) {
    await eventually(async () => expect(service.status().state).toBe('waiting'));
    await clock.advance(wait - 1);
    expect(service.status()).toMatchObject({ state: 'waiting', restarts: round });
    await clock.advance(1);
    expect(service.status().restarts).toBe(round + 1);
    await eventually(async () => expect(await starts()).toBe(round + 2));
  }
  await eventually(async () => expect(service.status().state).toBe('waiting'));
  service.abandon();
  expect(await logTail(log, 1)).toMatch(/x ended: status 3$/);
});

it('reports the pid that the program gives, or its own', async () => {
  const log = join(folder, 'log');
  const service = startService({ name: 'x', command: shell('echo 1 >&3; exec 3>&-; sleep 60'), log });
  await eventually(async () => expect(service.status()).toMatchObject({ state: 'running', pid: 1 }));
  await service.stop();
  const plain = startService({ name: 'y', command: shell('exec 3>&-; exec sleep 60'), log });
  await eventually(async () => expect(plain.status().pid).toBeGreaterThan(1));
  expect(plain.kill('SIGKILL')).toBe(true);
  expect(await plain.firstEnd).toBe('signal SIGKILL');
  plain.abandon();
  expect(plain.kill('SIGTERM')).toBe(false);
});

it('a program that is killed on purpose is started again at once, however often', async () => {
  const clock = createFakeClock();
  const log = join(folder, 'log');
  const service = startService({ name: 'x', command: shell('exec 3>&-; exec sleep 60'), log, clock });
  for (const round of [1, 2, 3]) {
    await eventually(async () => expect(service.kill('SIGKILL')).toBe(true));
    await eventually(async () => expect(service.status().state).toBe('waiting'));
    await clock.advance(100);
    expect(service.status()).toMatchObject({ state: 'running', restarts: round });
  }
  await service.stop();
});

it('stop ends what does not listen to SIGTERM', async () => {
  const log = join(folder, 'log');
  const ready = join(folder, 'ready');
  const service = startService({
    name: 'x',
    command: shell(`trap '' TERM; touch ${ready}; while :; do sleep 0.05; done`),
    log,
  });
  await waitForPath(ready);
  await service.stop(100);
  expect(service.status()).toMatchObject({ state: 'stopped', lastEnd: 'signal SIGKILL' });
});

it('a program that does not exist is a failure like others', async () => {
  const service = startService({ name: 'x', command: { file: '/no/such', args: [] }, log: join(folder, 'log') });
  expect(await service.firstEnd).toMatch(/could not be started: .*ENOENT/);
  service.abandon();
});

it('waitForPath sees what is there, what comes, and the signal', async () => {
  await writeFile(join(folder, 'there'), '');
  await waitForPath(join(folder, 'there'));
  const coming = waitForPath(join(folder, 'coming'));
  await writeFile(join(folder, 'other'), '');
  await writeFile(join(folder, 'coming'), '');
  await coming;
  await expect(waitForPath(join(folder, 'never'), AbortSignal.timeout(20))).rejects.toThrow(/timeout/i);
});
