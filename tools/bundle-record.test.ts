import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isBundleCurrent, recordBundle } from './bundle-record.ts';

let folder = '';
const at = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bundle-record-'));
  for (const name of ['a.ts', 'b.ts', 'a.mjs']) writeFileSync(at(name), name);
  recordBundle(at('record'), { inputs: [at('a.ts'), at('b.ts')], outputs: [at('a.mjs')] }, 'commit 1');
});
afterEach(() => rmSync(folder, { recursive: true }));

const isCurrent = (settings = 'commit 1'): boolean => isBundleCurrent(at('record'), settings);

it('is current while nothing changes, also when a file is written again', () => {
  expect(isCurrent()).toBe(true);
  writeFileSync(at('b.ts'), 'b.ts');
  expect(isCurrent()).toBe(true);
});

it.each<[string, () => void]>([
  ['an input changes', () => writeFileSync(at('b.ts'), 'B.ts')],
  ['an input is deleted', () => rmSync(at('a.ts'))],
  ['an output is deleted', () => rmSync(at('a.mjs'))],
  ['the record is deleted', () => rmSync(at('record'))],
  ['the record cannot be read', () => writeFileSync(at('record'), '{"inputs":')],
])('is not current when %s', (_, change) => {
  change();
  expect(isCurrent()).toBe(false);
});

it('is not current with other settings', () => {
  expect(isCurrent('commit 2')).toBe(false);
});
