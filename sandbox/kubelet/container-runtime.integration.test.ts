/** With files as the companions of containers write them, and no containers. */
import { watch } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { type ContainerRuntime, createContainerRuntime } from './container-runtime.ts';

const EXIT = JSON.stringify({ started: true, code: 3, signal: 0 });

/** More than pid_max. */
const NO_PROCESS = '4194305';

let folder: string;
let runtime: ContainerRuntime;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runtime-'));
  runtime = createContainerRuntime({ state: folder, mounts: join(folder, 'mounts') });
});
afterEach(async () => {
  runtime.close();
  await rm(folder, { recursive: true, force: true });
});

it('takes over what an earlier kubelet left, running or ended', async () => {
  await writeFile(join(folder, 'a.pid'), NO_PROCESS);
  await writeFile(join(folder, 'b.exit'), EXIT);
  await runtime.open();
  expect(runtime.state('a').exit).toMatchObject({ code: 137 });
  expect(runtime.state('b').exit).toMatchObject({ code: 3 });
});

it('a container that was removed does not come back with a file that is seen late, and stopping it does not wait', async () => {
  await writeFile(join(folder, 'a.exit'), EXIT);
  await runtime.open();
  await runtime.remove('a', 'none');
  const seen: string[] = [];
  runtime.onChange((id) => seen.push(id));
  // A second watcher, which hears of everything after the first one; then as many reads as that one may have begun.
  const watcher = watch(folder);
  const last = new Promise((resolve) => watcher.on('change', (_, file) => file === 'last' && resolve(file)));
  await writeFile(join(folder, 'a.pid'), NO_PROCESS);
  await writeFile(join(folder, 'last'), '');
  await last;
  watcher.close();
  for (let i = 0; i < 20; i++) await readFile(join(folder, 'a.pid'));
  await runtime.stop('a', 60_000);
  expect(runtime.state('a')).toEqual({});
  expect(seen).toEqual([]);
});

it('files that vanish while they are read are as good as absent', async () => {
  await runtime.open();
  const failures: unknown[] = [];
  const onRejection = (reason: unknown): void => void failures.push(reason);
  process.on('unhandledRejection', onRejection);
  for (let i = 0; i < 200; i++) {
    await writeFile(join(folder, 'draft'), EXIT);
    await rename(join(folder, 'draft'), join(folder, 'c.exit'));
    await rm(join(folder, 'c.exit'));
  }
  await eventually(async () => expect(failures).toEqual([]));
  process.off('unhandledRejection', onRejection);
});
