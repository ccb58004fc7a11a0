/** What can be said about the images without a container engine. test/integration/images.test.ts runs their programs. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { copiesOf, entrypointOf, lineageOf, ROOT, readStages } from '../../../tools/images/dockerfile.ts';
import { PROGRAMS } from '../../../tools/programs.ts';
import { readKustomization } from '../manifests/load.ts';

const stages = readStages();
const targets = stages.filter((stage) => entrypointOf([stage]).length > 0);
const ignored = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

const matches = (file: string, pattern: RegExp): string[] =>
  [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, found = '']) => found);

/** What its launcher reads. */
const partsOfDaemon = (name: string): string[] => [`dist/${name}.cjs`, `build/${name}.code`];

/** What `npm run build` and `npm install` make. */
const BUILT = new Set([
  ...PROGRAMS.map(({ name }) => `dist/${name}.mjs`),
  ...PROGRAMS.filter(({ isDaemon }) => isDaemon).flatMap(({ name }) => partsOfDaemon(name)),
  ...['udn-cni', 'nlsock.node', 'peercred.node', 'memory.node', 'lock.node', 'spawn.node'].map(
    (name) => `build/${name}`,
  ),
  'node_modules/node/bin/node',
]);

it('has a target for every image of the manifests', () => {
  const names = targets.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(readKustomization().images.map(({ name }) => name)));
});

it('copies only what the context has', () => {
  for (const { sources } of stages.flatMap(copiesOf).filter(({ from }) => from === undefined)) {
    for (const source of sources) {
      expect(existsSync(source), source).toBe(true);
      expect(ignored).not.toContain(source);
    }
  }
});

it('copies from the build only what is built or in the repository, and nothing that is ignored', () => {
  for (const { from, sources } of stages.flatMap(copiesOf).filter(({ from }) => from !== undefined)) {
    expect(stages.map(({ name }) => name)).toContain(from);
    for (const source of sources) {
      const path = source.slice(ROOT.length + 1);
      expect(BUILT.has(path) || existsSync(path), source).toBe(true);
      const isIgnored = ignored.some((folder) => path.startsWith(`${folder}/`));
      expect(isIgnored && !BUILT.has(path), source).toBe(false);
    }
  }
});

it('gives the cluster manager every part of the build that it opens', () => {
  const opened = matches('cluster-manager/main.ts', /'build', '([^']+)'\)/g);
  const manager = stages.find(({ name }) => name === 'udn-cluster-manager')!;
  expect(opened).not.toEqual([]);
  expect(copiesOf(manager).flatMap(({ sources }) => sources)).toEqual(
    expect.arrayContaining(opened.map((name) => `${ROOT}/build/${name}`)),
  );
});

it('gives the agent every part of the build that it opens', () => {
  const opened = globSync('agent/**/*.ts')
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => matches(file, /join\(buildFolder, '([^']+)'\)/g));
  const agent = stages.find(({ name }) => name === 'udn-agent')!;
  expect(opened.length).toBeGreaterThan(2);
  expect(copiesOf(agent).flatMap(({ sources }) => sources)).toEqual(
    expect.arrayContaining(opened.map((name) => `${ROOT}/build/${name}`)),
  );
});

it('labels the version of the package', () => {
  expect(readFileSync('Dockerfile', 'utf8')).toContain(`image.version="${packageJson.version}"`);
});

const hasNode = (name: string): boolean => name !== 'udn-ovn';

describe.each(targets.filter(({ name }) => hasNode(name)))('$name', (target) => {
  const lineage = lineageOf(target, stages);
  const [program = ''] = entrypointOf(lineage);

  it('starts a program that it has, with its bundle and Node', () => {
    const copied = lineage.flatMap(copiesOf).flatMap(({ sources }) => sources);
    expect(copied).toContain(program);
    const name = program.split('/').at(-1);
    expect(copied).toContain(`${ROOT}/dist/${name}.mjs`);
    expect(copied).toContain(`${ROOT}/node_modules/node/bin/node`);
    const isDaemon = PROGRAMS.some((one) => one.name === name && one.isDaemon);
    const parts = isDaemon ? partsOfDaemon(String(name)) : [];
    expect(copied).toEqual(expect.arrayContaining(parts.map((part) => `${ROOT}/${part}`)));
  });
});

describe.each(targets)('$name', (target) => {
  const lineage = lineageOf(target, stages);

  it('runs as root only where it has to', () => {
    const users = lineage.flatMap(({ instructions }) => instructions).filter(({ name }) => name === 'USER');
    const isRoot = ['udn-agent', 'udn-ovn'].includes(target.name);
    expect(users.map(({ args }) => args.join())).toEqual(isRoot ? [] : ['65532:65532']);
  });
});
