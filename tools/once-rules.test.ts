/** What has one place in the code has it alone: every source of the product is read. */
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { writtenAgain } from './once-rules.ts';

const PRODUCT = '{agent,api,base,cli,cluster-manager,datapath,kube,net,ovsdb,program}/**/*.ts';
const SOURCES = globSync(PRODUCT).filter((path) => !/\.(test|suite|gen)\.ts$|\/testing\//.test(path));

it('is nowhere twice in the product', () => {
  expect(SOURCES.length).toBeGreaterThan(500);
  expect(SOURCES.flatMap((path) => writtenAgain(path, readFileSync(path, 'utf8')))).toEqual([]);
});

it.each([
  ["signal.addEventListener('abort', stop)", /`onAbort`/],
  ['const text = error instanceof Error ? error.message : String(error);', /`messageOf`/],
  ["if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;", /`codeOf`/],
  ['reject(cause instanceof Error ? cause : new Error(String(cause)))', /`errorOf`/],
  ["stdout.split('\\n').filter((line) => line.includes(' actions='))", /`parseFlows`/],
  ['const wait = minMs * 2 ** failures;', /`backoffMs`/],
  ['createReflector({ equal: (a, b) => a.name === b.name })', /`equalBut`/],
])('finds %s', (source, message) => {
  expect(writtenAgain('agent/agent.ts', source)).toEqual([expect.stringMatching(message)]);
});

it('leaves each to its place', () => {
  expect(writtenAgain('base/abort.ts', "signal.addEventListener('abort', stop)")).toEqual([]);
});
