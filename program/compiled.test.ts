import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { codeFile, codeOf, compile, readCode, run } from './compiled.ts';

let folder: string;
let bundle: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'compiled-'));
  for (const name of ['dist', 'build']) mkdirSync(join(folder, name));
  bundle = join(folder, 'dist', 'daemon.cjs');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** It says where it is. Each test has other words: V8 keeps what it has compiled in this process. */
const write = (word: string): void =>
  writeFileSync(
    bundle,
    `require('node:fs').writeFileSync(__dirname + '/said', ['${word}', __filename, __url].join(' '));`,
  );

const said = (): string => readFileSync(join(folder, 'dist', 'said'), 'utf8');

/** @returns whether V8 has taken the code; undefined: it was given none */
const launch = (): boolean | undefined => {
  const compiled = compile(bundle, readCode(bundle));
  run(compiled);
  const { cachedDataRejected } = compiled.script;
  return cachedDataRejected === undefined ? undefined : !cachedDataRejected;
};

it('runs with the code that was compiled of it', () => {
  write('one');
  writeFileSync(codeFile(bundle), codeOf(compile(bundle, undefined)));
  expect(codeFile(bundle)).toBe(join(folder, 'build', 'daemon.code'));
  expect([launch(), said()]).toEqual([true, `one ${bundle} file://${bundle}`]);
});

it('runs without code', () => {
  write('two');
  expect([launch(), said()]).toEqual([undefined, expect.stringContaining('two')]);
});

it('is compiled again where the code is of another source of the same length, or damaged', () => {
  write('three');
  writeFileSync(codeFile(bundle), codeOf(compile(bundle, undefined)));
  write('seven');
  expect([launch(), said()]).toEqual([undefined, expect.stringContaining('seven')]);
  write('eight');
  const { digest } = compile(bundle, undefined);
  writeFileSync(codeFile(bundle), Buffer.concat([digest, Buffer.from('no code')]));
  launch();
  expect(said()).toContain('eight');
  writeFileSync(codeFile(bundle), 'short');
  expect([launch(), said()]).toEqual([undefined, expect.stringContaining('eight')]);
});

it('names the bundle and its line when it fails', () => {
  writeFileSync(bundle, '\nthrow new Error("broken");');
  expect(() => run(compile(bundle, undefined))).toThrow(
    expect.objectContaining({ stack: expect.stringContaining(`${bundle}:2`) }),
  );
});
