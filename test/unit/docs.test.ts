/** Documentation that names something has to name something that is there. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CNI_FAILURE_CAUSES } from '../../agent/cni/failure-cause.ts';
import { CNI_ERROR_CODES } from '../../api/cni/error.ts';

const IGNORED = ['node_modules', 'dist', 'build', '.demo', '.bench', '.git'];
const exclude = (name: string): boolean => IGNORED.includes(name);
const files = globSync('**/*.md', { exclude });
const read = (file: string): string => readFileSync(file, 'utf8');
/** What is between fences is output and examples. */
const prose = (file: string): string => read(file).replace(/^```[\s\S]*?^```/gm, '');

const FOLDERS =
  'agent|api|bench|bin|cli|cluster-manager|cni-shim|daemonset|datapath|demo|docs|examples|kube|net|ovsdb|program|sandbox|test|tools';

const linksOf = (file: string): string[] =>
  [...prose(file).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^\w+:/.test(target));

/** As GitHub makes them from headings. */
const anchorsOf = (file: string): string[] =>
  [...prose(file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe.each(files)('%s', (file) => {
  it('has links that lead somewhere', () => {
    const broken = linksOf(file).filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : normalize(join(dirname(file), path));
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
    expect(broken).toEqual([]);
  });

  it('names files that exist', () => {
    const named = [...prose(file).matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text);
    const paths = named.filter((text) => new RegExp(`^(${FOLDERS})/(?:[\\w./-]*(?:/|\\.\\w+))?$`).test(text));
    expect(paths.filter((path) => !existsSync(path) && !existsSync(join(dirname(file), path)))).toEqual([]);
  });

  it('names commands of make that exist', () => {
    const targets = new Set([...read('Makefile').matchAll(/^([a-z0-9-]+):/gm)].map(([, name]) => name));
    const named = [...read(file).matchAll(/(?:^|`)make ([a-z0-9-]+)/gm)].map(([, name]) => name);
    expect(named.filter((name) => !targets.has(name))).toEqual([]);
  });
});

const sources = globSync('*/**/*.ts', { exclude }).filter((file) => !/\.(test|suite|case)\.ts$|\/testing\//.test(file));

it('docs/errors.md lists the code of every error', () => {
  const codes = new Set(sources.flatMap((file) => read(file).match(/(?<=')ERR_[A-Z0-9]+_?[A-Z0-9_]*(?=')/g) ?? []));
  const listed = `${read('docs/errors.md')} ${read('ovsdb/README.md')}`;
  // Codes of Node itself, and of the base class that is never thrown.
  const others = new Set([
    'ERR_INVALID_ARG_TYPE',
    'ERR_PARSE_ARGS_UNKNOWN_OPTION',
    'ERR_PARSE_ARGS_INVALID_OPTION_VALUE',
    'ERR_OVSDB',
  ]);
  // The table of ovsdb abbreviates: "ERR_OVSDB_A, _B".
  const isListed = (code: string): boolean =>
    new RegExp(`\\b${code}\\b`).test(listed) ||
    new RegExp(`[ ,]${code.replace('ERR_OVSDB', '')}\\b`).test(read('ovsdb/README.md'));
  expect([...codes].filter((code) => !others.has(code) && !isListed(code))).toEqual([]);
});

it('docs/errors.md explains every code of CNI', () => {
  const rows = [...read('docs/errors.md').matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code));
  expect(rows).toEqual(expect.arrayContaining(Object.values(CNI_ERROR_CODES)));
});

it('every cause of a CNI call that fails is explained', () => {
  const text = read('docs/cni.md');
  const section = text.split('## Calls that fail')[1]?.split('\n## ')[0] ?? '';
  expect([...section.matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, cause]) => cause)).toEqual([...CNI_FAILURE_CAUSES]);
});

it('docs/errors.md has every reason of events and conditions', () => {
  const reasons = sources
    .filter((file) => /^(agent|cluster-manager)\//.test(file))
    .flatMap((file) => [
      ...read(file).matchAll(
        /(?<!name = )'([A-Z][A-Za-z]+(?:Error|Failed|Pod|Conflict|Created|Deleted|Network|Succeeded))'/g,
      ),
    ])
    .map(([, reason = '']) => reason)
    .filter((reason) => !/UserDefinedNetwork$/.test(reason));
  expect(reasons.length).toBeGreaterThan(8);
  expect([...new Set(reasons)].filter((reason) => !read('docs/errors.md').includes(`\`${reason}\``))).toEqual([]);
});

it('the index of decisions has all of them, in order', () => {
  const pages = globSync('docs/adr/0*.md').map((file) => file.replace('docs/adr/', ''));
  expect(linksOf('docs/adr/README.md')).toEqual(pages.toSorted());
});

it('the architecture has every folder with features, and what they are about', () => {
  const code = globSync('agent/features/**/*.ts', { exclude: ['**/*.test.ts'] }).flatMap((path) =>
    [...read(path).matchAll(/: (?:Feature|Members)Over<'(\w+)'> = /g)].map(
      ([, over = '']) => [featureFolder(path), over] as const,
    ),
  );
  const desired = new Map(code.map(([folder]) => [folder, overs(code, [folder])]));
  const [, section = ''] = /^The features of today.*?\n\n(\|.*?)\n\n/ms.exec(read('docs/architecture.md')) ?? [];
  const rows = [...section.matchAll(/^\| (`[^|]+) \| ([^|]+) \| [^|]+ \|$/gm)].map(
    ([, folders = '', subjects = '']) => ({
      folders: [...folders.matchAll(/`([^`]+)`/g)].map(([, folder = '']) => folder),
      subjects: subjects.trim().split(', ').map(subjectKind),
    }),
  );
  expect(desired.size).toBeGreaterThan(15);
  expect(rows.flatMap(({ folders }) => folders).toSorted()).toEqual([...desired.keys()].toSorted());
  expect(rows.map(({ folders, subjects }) => [folders, subjects.toSorted()])).toEqual(
    rows.map(({ folders }) => [folders, overs(code, folders)]),
  );
});

const featureFolder = (path: string): string => relative('agent/features', dirname(path));

const overs = (code: readonly (readonly [string, string])[], folders: readonly string[]): string[] =>
  [...new Set(code.filter(([folder]) => folders.includes(folder)).map(([, over]) => over))].toSorted();

/** As the architecture writes them. */
const subjectKind = (words: string): string =>
  ({ 'node in network': 'networkNode', 'pod of this node': 'pod', Service: 'service' })[words] ?? words;

it('the agent’s page has every folder of it', () => {
  const folders = globSync('agent/*/').map((path) => relative('agent', path));
  expect(folders.length).toBeGreaterThan(10);
  const rows = [...read('agent/README.md').matchAll(/^\| `([a-z-]+)\/`/gm)].map(([, folder]) => folder);
  expect(rows.toSorted()).toEqual(folders.toSorted());
});
