import { chmod, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openCaptureFolder, removeAbandoned } from './capture-folders.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'captures-test-'));
});
afterEach(() => rm(parent, { recursive: true }));

const LATER = Date.now() + 3_600_000;

/** As a process that is killed leaves it: the socket is there, and nobody listens. */
const abandoned = async (name: string): Promise<string> => {
  const living = await openCaptureFolder(parent);
  const left = join(parent, name);
  // Closing deletes the socket by the path that it was made at.
  await rename(living.path, left);
  await living[Symbol.asyncDispose]();
  await writeFile(join(left, '1.pcap'), 'secret');
  return left;
};

it('what a killed process has left is deleted, and nothing that lives', async () => {
  await using living = await openCaptureFolder(parent);
  const left = await abandoned('udn-capture.left');
  expect(await removeAbandoned(parent, LATER)).toEqual([left]);
  expect(await readdir(parent)).toEqual([basename(living.path)]);
});

it('a folder goes when it is disposed of', async () => {
  const folder = await openCaptureFolder(parent);
  await folder[Symbol.asyncDispose]();
  expect(await readdir(parent)).toEqual([]);
});

it('a folder that has no socket yet may be about to get it', async () => {
  const young = join(parent, 'udn-capture.young');
  await mkdir(young, { mode: 0o700 });
  expect(await removeAbandoned(parent, Date.now())).toEqual([]);
  expect(await removeAbandoned(parent, LATER)).toEqual([young]);
});

it('keeps results, and what another user may have put there', async () => {
  for (const name of ['udn-capture-red-a-20260101-000000', 'udn-capture.mine']) {
    await mkdir(join(parent, name), { mode: 0o700 });
    await writeFile(join(parent, name, '1.pcap'), 'result');
  }
  await symlink(tmpdir(), join(parent, 'udn-capture.link'));
  await chmod(await abandoned('udn-capture.open'), 0o755);
  expect(await removeAbandoned(parent, LATER)).toEqual([]);
});

it('no folder at all is none to delete', async () =>
  expect(await removeAbandoned(join(parent, 'none'), LATER)).toEqual([]));
