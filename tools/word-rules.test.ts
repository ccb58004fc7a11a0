/** What users read has no phrase that `word-rules.ts` knows: every source of the product, and every page, is read. */
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { quaintMessages, quaintPage, unreleasedOf } from './word-rules.ts';

const PRODUCT = '{agent,api,base,cli,cluster-manager,datapath,demo,kube,net,ovsdb,program,sandbox}/**/*.ts';
const SOURCES = globSync(PRODUCT).filter((path) => !/\.(test|suite|gen)\.ts$|\/testing\//.test(path));
/** What was decided or released is not written again. */
const PAGES = globSync(
  '{*.md,docs/*.md,{agent,api,charts,cluster-manager,cni-shim,daemonset,datapath,kube,ovsdb,sandbox}/**/*.md}',
).filter((path) => path !== 'CHANGELOG.md');
const MANIFESTS = globSync('daemonset/**/*.yaml');

it('messages have the words of the field', () => {
  expect(SOURCES.length).toBeGreaterThan(500);
  expect(SOURCES.flatMap((path) => quaintMessages(path, readFileSync(path, 'utf8')))).toEqual([]);
});

it('pages do, too', () => {
  expect(PAGES.length).toBeGreaterThan(30);
  expect(PAGES.flatMap((path) => quaintPage(path, readFileSync(path, 'utf8')))).toEqual([]);
});

it('comments and messages of manifests do, too', () => {
  expect(MANIFESTS.length).toBeGreaterThan(10);
  expect(MANIFESTS.flatMap((path) => quaintPage(path, readFileSync(path, 'utf8')))).toEqual([]);
});

it('what is not released yet does, too', () => {
  const unreleased = unreleasedOf(readFileSync('CHANGELOG.md', 'utf8'));
  expect(unreleased).toMatch(/^- /m);
  expect(quaintPage('CHANGELOG.md', unreleased)).toEqual([]);
});

it.each([
  ["fail('no agent has told its chassis')", /"has told"/],
  ["fail('nobody wants it')", /"nobody"/],
  ['fail(`node n1 counts for nobody: no chassis`)', /"counts for nobody"/],
  ["describe('what is programmed otherwise than it is wanted')", /"otherwise than"/],
  ['const next = `a namespace has one primary network: delete one of both`;', /"one of both"/],
  ["const text = 'All nodes that are to have it have it';", /"that are to have it"/],
  ["const what = 'northbound port is the first thing that is not as it should be';", /"not as it should be"/],
  ["const lines = [state + ' is not there'];", /"is not there"/],
  ["fail('the pod is told its addresses')", /"is told"/],
  ["fail('the row was taken away')", /"taken away"/],
  ["await part('the way to the guest')", /"the way to the"/],
  ["fail('requested are 2 addresses')", /"requested are"/],
  ["ok(what, 'whether it works is not for you to read')", /"not for you to"/],
  ["fail('a UID can be had only with a name')", /"can be had"/],
  ["const text = 'the MAC is unknown yet, ovn-controller asks for it';", /"unknown yet"/],
  ["failed.set(key, 'what it is on did not come to rest')", /"come to rest"/],
])('finds %s', (source, message) => {
  expect(quaintMessages('cli/main.ts', source).join('\n')).toMatch(message);
});

it('finds a phrase in a page, over the end of a line', () => {
  expect(quaintPage('docs/node.md', 'programmed\notherwise\nthan before')).toEqual([
    expect.stringContaining('docs/node.md says "otherwise than"'),
  ]);
});

it('finds a phrase in a comment of a manifest, over the end of a line', () => {
  expect(quaintPage('daemonset/a.yaml', '# Nobody does. Pods have no way\n# out.\nkind: Role')).toEqual([
    expect.stringContaining('"Nobody"'),
    expect.stringContaining('"way out"'),
  ]);
  expect(quaintPage('docs/cni.md', 'K8S_POD_NAME=nobody: red/nobody is not on this node')).toEqual([]);
});

it('reads of a changelog what is not released', () => {
  const released = '## [0.1.0] - 2026-01-01\n\n- Old.\n';
  expect(unreleasedOf(`# Changelog\n\n## [Unreleased]\n\n- New.\n\n${released}`).trim()).toBe('- New.');
  expect(unreleasedOf('## [Unreleased]\n\n- New.\n').trim()).toBe('- New.');
});

it.each([
  ['a comment', "// nobody tells\n/* somebody's way */ const a = 1;"],
  ['an expression', `const text = \`\${nobody} nodes\`; const isWanted = nobody;`],
  ['the name of a metric', "name('udn_agent_wanted_objects')"],
])('leaves %s alone', (_, source) => {
  expect(quaintMessages('cli/main.ts', source)).toEqual([]);
});
