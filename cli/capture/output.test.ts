import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readTar } from '../../base/tar-reader.ts';
import { type CaptureOutput, captureOutput, deliver, openFolder } from './output.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'capture-test-'));
});
afterEach(() => rm(folder, { recursive: true }));

const SIZE = 200_000;

/** Files of a capture, in a folder that a process holds. */
const captured = async (output: CaptureOutput) => {
  const files = await openFolder(output, folder);
  await writeFile(join(files.path, '2-uplink.pcap'), Buffer.alloc(SIZE, 7));
  await writeFile(join(files.path, '1-pod.pcap'), '');
  return files;
};

it('an archive is written in pieces, has the files alone, and only its user reads it', async () => {
  const path = join(folder, 'new.tar');
  const output = captureOutput(path, 'red/a', new Date(0));
  await using files = await captured(output);
  expect(await deliver(output, files.path, () => {})).toBe(path);
  const entries = readTar(await readFile(path));
  expect(entries.map((entry) => [entry.path, entry.content.length])).toEqual([
    ['1-pod.pcap', 0],
    ['2-uplink.pcap', SIZE],
  ]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it('no piece on standard output is a whole file', async () => {
  const pieces: Uint8Array[] = [];
  await using files = await captured({ kind: 'stream' });
  await deliver({ kind: 'stream' }, files.path, (piece) => void pieces.push(piece));
  expect(readTar(Buffer.concat(pieces))).toHaveLength(2);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(SIZE);
});

it('an archive that exists is refused, before the capture and after it, and stays as it is', async () => {
  const path = join(folder, 'old.tar');
  const output = captureOutput(path, 'red/a', new Date(0));
  await writeFile(path, 'old', { mode: 0o644 });
  expect(() => captureOutput(path, 'red/a', new Date(0))).toThrow(`--output: ${path} already exists`);
  await using files = await captured(output);
  await expect(deliver(output, files.path, () => {})).rejects.toThrow(`--output: ${path} already exists`);
  expect(await readFile(path, 'utf8')).toBe('old');
});

it('a folder that was made for nothing is deleted, one with files stays', async () => {
  for (const [name, file] of [['empty'], ['full', '1.pcap']] as const) {
    await using made = await openFolder({ kind: 'folder', path: join(folder, name) }, folder);
    if (file !== undefined) await writeFile(join(made.path, file), '');
  }
  expect(await readdir(folder)).toEqual(['full']);
});
