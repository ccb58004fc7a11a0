import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { tryFileLock } from './file-lock.ts';

const ADDON = resolve('build/lock.node');
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'udn-lock-'));
  path = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('one holds it at a time, and the next one when it is released', () => {
  const first = tryFileLock(path, ADDON);
  expect(first).toBeDefined();
  expect(tryFileLock(path, ADDON)).toBeUndefined();
  first?.[Symbol.dispose]();
  first?.[Symbol.dispose]();
  using second = tryFileLock(path, ADDON);
  expect(second).toBeDefined();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('a process that is killed releases it, and of two at once one gets it', async () => {
  const program = `const { tryFileLock } = await import(${JSON.stringify(resolve('program/file-lock.ts'))});
    console.log(tryFileLock(process.argv[1], process.argv[2]) === undefined ? 'refused' : 'held');
    setInterval(() => {}, 1000);`;
  const start = () => spawn(process.execPath, ['--input-type=module', '-e', program, path, ADDON]);
  const both = [start(), start()];
  try {
    const said = await Promise.all(both.map(async ({ stdout }) => String(await once(stdout, 'data')).trim()));
    expect(said.toSorted()).toEqual(['held', 'refused']);
    expect(tryFileLock(path, ADDON)).toBeUndefined();
  } finally {
    for (const child of both) child.kill('SIGKILL');
    await Promise.all(both.map((child) => once(child, 'exit')));
  }
  using next = tryFileLock(path, ADDON);
  expect(next).toBeDefined();
});

it('a file that is removed while another one is opened is no lock', () => {
  tryFileLock(path, ADDON)?.remove();
  expect(existsSync(path)).toBe(false);
  using again = tryFileLock(path, ADDON);
  expect(again).toBeDefined();
  expect(existsSync(path)).toBe(true);
});
