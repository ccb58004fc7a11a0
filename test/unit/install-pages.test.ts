/** Each command of the pages about installing is run by `test/e2e/with-ovn.test.ts`, or says to its readers why not. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { pageBlocks } from '../e2e/support/install/page.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

it('blocks are read with their language, their part, and why they are left out', () => {
  const page = [
    '# Title',
    '## First',
    '```sh',
    'a',
    '',
    'b',
    '```',
    'Text.',
    '',
    '_Not run in the test: it needs a registry._',
    '',
    '```console',
    '$ c',
    '```',
    '```yaml',
    'd: 1',
    '```',
    '## Second',
    '```sh',
    'e',
    '```',
  ].join('\n');
  expect(pageBlocks(page)).toEqual([
    { language: 'sh', text: 'a\n\nb', part: 'First' },
    { language: 'console', text: '$ c', part: 'First', reason: 'it needs a registry.' },
    { language: 'sh', text: 'e', part: 'Second' },
  ]);
});

it('of docs/install.md more is run than left out', () => {
  const blocks = pageBlocks(read('docs/install.md'));
  const run = blocks.filter(({ reason }) => reason === undefined);
  expect(run.length).toBeGreaterThan(blocks.length / 2);
  expect(new Set(run.map(({ part }) => part))).toEqual(new Set(['Install', 'Uninstall']));
});

describe.each(globSync('docs/install/*.md'))('%s', (file) => {
  it('says of each block why it is not run', () => {
    const blocks = pageBlocks(read(file));
    expect(blocks.length).toBeGreaterThan(0);
    expect(blocks.filter(({ reason }) => reason === undefined)).toEqual([]);
  });

  it('has values that the chart knows', () => {
    const known = parse(read('charts/ovn-udn/values.yaml')) as object;
    const values = [...read(file).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)]
      .map(([, text = '']) => parse(text) as object)
      .filter((one) => 'settings' in one);
    for (const one of values) expect(unknownKeys(one, known)).toEqual([]);
    const named = [...read(file).matchAll(/`((?:settings|agent|ovn)\.[A-Za-z.]+)/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(1);
    for (const path of named) expect(at(known, path.split('.')), path).toBeDefined();
  });
});

const unknownKeys = (values: object, known: object): string[] =>
  Object.entries(values).flatMap(([key, value]) => {
    const there = (known as Record<string, unknown>)[key];
    if (there === undefined) return [key];
    if (typeof value !== 'object' || typeof there !== 'object') return [];
    return unknownKeys(value as object, there as object).map((inner) => `${key}.${inner}`);
  });

const at = (value: unknown, [key, ...rest]: readonly string[]): unknown =>
  key === undefined ? value : at((value as Record<string, unknown> | undefined)?.[key], rest);
