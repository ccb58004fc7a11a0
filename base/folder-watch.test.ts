import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FolderWatch, fileIdentity } from './folder-watch.ts';

let parent: string;
let folder: string;
let watch: FolderWatch;
let changes: number;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'folder-watch-'));
  folder = join(parent, 'watched');
  changes = 0;
});
afterEach(() => {
  watch.close();
  rmSync(parent, { recursive: true });
});

const start = (): void => {
  watch = new FolderWatch({ folder, lookMs: 20, onChange: () => changes++ });
};
const reported = async (): Promise<void> => {
  await vi.waitFor(() => expect(changes).toBeGreaterThan(0), 5_000);
  changes = 0;
};

it('reports files that come, are written and go', async () => {
  mkdirSync(folder);
  start();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  await reported();
  writeFileSync(file, 'content');
  await reported();
  rmSync(file);
  await reported();
});

it('reports a folder that comes, goes and is recreated', async () => {
  start();
  mkdirSync(folder);
  await reported();
  renameSync(folder, join(parent, 'gone'));
  await reported();
  mkdirSync(folder);
  writeFileSync(join(folder, 'file'), '');
  await reported();
});

it('distinguishes a file from the one that had its name', () => {
  mkdirSync(folder);
  start();
  const file = join(folder, 'file');
  expect(fileIdentity(file)).toBeUndefined();
  writeFileSync(file, '');
  const first = fileIdentity(file);
  expect(fileIdentity(file)).toBe(first);
  rmSync(file);
  writeFileSync(file, '');
  expect(fileIdentity(file)).not.toBe(first);
});
