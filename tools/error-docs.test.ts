/** docs/errors.md quotes messages: each quoted part of them is in a source of the product, or in an admission policy. */
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const SOURCES = globSync([
  '{agent,api,base,cli,cluster-manager,datapath,kube,net,program}/**/*.ts',
  'daemonset/admission/*.yaml',
]).filter((path) => !/\.(test|suite|gen)\.ts$|\/testing\//.test(path));

/** Shorter ones are words. */
const MIN_LENGTH = 12;

/** Of the first column of a table: its code, without values. */
const quotedParts = (page: string): string[] =>
  page
    .split('\n')
    .flatMap((line) => /^\| (`[^|]*[a-z…] [^|]*`) +\|/.exec(line)?.[1] ?? [])
    .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, quoted = '']) => quoted))
    .flatMap((message) => message.split(/…|["'[:]|\d+|k8s\.ovn\.org\/\S+/))
    .map((part) => part.replace(/^[\s,;]+|[\s,;]+$/g, ''))
    .filter((part) => part.length >= MIN_LENGTH);

it('every message of the page is one of the product', () => {
  const text = SOURCES.map((path) => readFileSync(path, 'utf8')).join('\n');
  const parts = quotedParts(readFileSync('docs/errors.md', 'utf8'));
  expect(parts.length).toBeGreaterThan(40);
  expect(parts.filter((part) => !text.includes(part))).toEqual([]);
});
