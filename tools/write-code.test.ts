import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { codeFile } from '../program/compiled.ts';

const folder = mkdtempSync(join(tmpdir(), 'code-'));
afterEach(() => rmSync(folder, { recursive: true }));

const ACCEPTED = `const { compile, readCode } = await import(process.argv[1]);
console.log(compile(process.argv[2], readCode(process.argv[2])).script.cachedDataRejected);`;

it('writes the same code each time, as build.ts starts it, and Node takes it', { timeout: 30_000 }, () => {
  for (const name of ['dist', 'build']) mkdirSync(join(folder, name));
  const bundle = join(folder, 'dist', 'daemon.cjs');
  const words = Array.from({ length: 500 }, (_, index) => `const f${index} = (a) => ({ a, b: ${index} });`);
  writeFileSync(bundle, `${words.join('\n')}\nif (process.argv[2] !== '--version') throw new Error('started');`);
  const write = (): Buffer => {
    execFileSync(process.execPath, ['--predictable', 'tools/write-code.ts', bundle]);
    return readFileSync(codeFile(bundle));
  };
  const first = write();
  expect(write().equals(first)).toBe(true);
  const program = join(process.cwd(), 'program/compiled.ts');
  const args = ['--input-type=module', '--eval', ACCEPTED, program, bundle];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('false\n');
});
