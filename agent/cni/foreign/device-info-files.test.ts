import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deviceInfoFiles } from './device-info-files.ts';

const INFO = { type: 'pci', version: '1.1.0', pci: { 'pci-address': '0000:01:02.2' } };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'device-info-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('reads what a plugin has written, until it is removed', async () => {
  const files = deviceInfoFiles(join(folder, 'below'));
  const path = files.pathOf('abc', 3);
  expect(path).toBe(join(folder, 'below', 'abc-3.json'));
  await files.prepare(path);
  expect(await files.read(path)).toBeUndefined();
  await writeFile(path, JSON.stringify(INFO));
  expect(await files.read(path)).toEqual(INFO);
  await files.remove(path);
  await files.remove(path);
  expect(await files.read(path)).toBeUndefined();
});

it('takes away what is in the place of a new one', async () => {
  const files = deviceInfoFiles(folder);
  const path = files.pathOf('old', 0);
  await writeFile(path, 'old');
  await files.prepare(path);
  expect(await files.read(path)).toBeUndefined();
});

it.each([
  ['a link', (path: string) => symlink(join(folder, 'target'), path), /abc-0\.json cannot be read: ELOOP/],
  ['a folder', (path: string) => mkdir(path), /cannot be read: it is not a file/],
  ['a pipe', (path: string) => execFileSync('mkfifo', [path]), /cannot be read: it is not a file/],
  ['too much', (path: string) => writeFile(path, ' '.repeat(5000)), /cannot be read: it is longer than 4096 bytes/],
  ['no JSON', (path: string) => writeFile(path, 'pci'), /cannot be read: .*JSON/],
])('does not read %s', async (_, make, message) => {
  const files = deviceInfoFiles(folder);
  await writeFile(join(folder, 'target'), JSON.stringify(INFO));
  const path = files.pathOf('abc', 0);
  await rm(path, { recursive: true, force: true });
  await make(path);
  await expect(files.read(path)).rejects.toThrow(message);
});
