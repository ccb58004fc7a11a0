/** Log lines are read by machines: every field has one name and one meaning. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LOG_FIELDS } from '../../../program/log-fields.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDERS = ['agent', 'cluster-manager', 'program'];
const CALL = /\.(?:trace|debug|info|warn|error|child)\(\s*\{([^{}]*)\}/g;

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('.test.'))
    .map((file) => join(folder, file)),
);

const fieldsOf = (source: string): string[] =>
  [...source.matchAll(CALL)].flatMap(([, fields = '']) =>
    fields
      .split(',')
      .map((field) => /^\s*(\w+)/.exec(field)?.[1])
      .filter((field) => field !== undefined),
  );

it('fields of log lines are those of the registry', () => {
  const unknown = sources.flatMap((file) =>
    fieldsOf(readFileSync(join(ROOT, file), 'utf8'))
      .filter((field) => !Object.hasOwn(LOG_FIELDS, field))
      .map((field) => `${file}: ${field}`),
  );
  expect(unknown).toEqual([]);
});

it('finds fields at all', () => {
  expect(fieldsOf("log.warn({ err: error, retryInMs }, 'again'); log.child({ module: 'x' })")).toEqual([
    'err',
    'retryInMs',
    'module',
  ]);
  const used = new Set(sources.flatMap((file) => fieldsOf(readFileSync(join(ROOT, file), 'utf8'))));
  expect(used.size).toBeGreaterThan(20);
});
