/**
 * The suites of other projects, built once from Go modules into the user's cache: network-policy-api's of both versions, and cyclonus
 * with a worker for its pods.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { ManifestObject, Sandbox } from '../../sandbox/index.ts';
import { type EnsureOptions, ensurePrograms, readSources } from '../../sandbox/kubernetes/build.ts';
import { findGo } from '../../sandbox/kubernetes/go.ts';
import { GO_FLAGS, type Recipe } from '../../sandbox/kubernetes/recipe.ts';
import type { SuiteProgram } from './suites.ts';
import { SKIP, withoutSctp } from './without-sctp.ts';

interface Module {
  /** Its folder, here. */
  readonly folder: string;
  /** The Go module that it plays. */
  readonly of: string;
  /** Beside go.mod and go.sum; paths in the folder. */
  readonly sources: readonly string[];
  /** By program, its Go package. */
  readonly packages: Readonly<Record<string, string>>;
}

const API = 'sigs.k8s.io/network-policy-api';
const HARNESS = ['main.go', '../harness/go.mod', '../harness/harness.go'];
const CYCLONUS = 'github.com/mattfenwick/cyclonus';

const MODULES = {
  'admin-policies': {
    ...{ folder: 'network-policy-api/v1alpha1', of: API, sources: HARNESS, packages: { 'admin-policies': '.' } },
  },
  'cluster-policies': {
    ...{ folder: 'network-policy-api/v1alpha2', of: API, sources: HARNESS, packages: { 'cluster-policies': '.' } },
  },
  cyclonus: {
    ...{ folder: 'cyclonus', of: CYCLONUS, sources: ['main.go', 'cluster.go', 'worker/main.go'] },
    packages: { cyclonus: '.', 'cyclonus-worker': './worker' },
  },
} satisfies Record<string, Module>;

export type OtherSuite = keyof typeof MODULES;

const FLAGS = '-s -w';

/** @param kinds of suites, of Kubernetes' own, too @returns paths by program @throws SandboxError ERR_SANDBOX_MACHINE */
export const ensureOtherPrograms = async (
  kinds: readonly SuiteProgram['kind'][],
  options: EnsureOptions,
): Promise<ReadonlyMap<string, string>> => {
  const paths = new Map<string, string>();
  for (const kind of new Set(kinds)) {
    if (kind === 'kubernetes') continue;
    const module: Module = MODULES[kind];
    const about = { title: module.of, recipe: await recipeFor(kind), module: folderOf(kind), flags: FLAGS };
    const modfile = kind === 'cyclonus' ? undefined : await writeChanged(kind, options);
    const names = Object.keys(module.packages);
    const built = await ensurePrograms(names, { ...about, modfile, packages: module.packages }, options);
    if (modfile !== undefined) await rm(dirname(modfile), { recursive: true });
    for (const [name, path] of Object.entries(built)) paths.set(name, path);
  }
  return paths;
};

/** Removes what an earlier suite has left on the cluster, and brings what this one needs there. */
export const prepareSuite = async (sandbox: Sandbox, { kind }: SuiteProgram, options: EnsureOptions): Promise<void> => {
  if (kind === 'kubernetes') return;
  const objects = await sandbox.objects();
  const left = NAMESPACES[kind].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  await objects.delete(left, { timeoutSeconds: 180 });
  if (kind === 'cyclonus') return;
  await objects.apply(await definitionsOf(kind, options));
  options.progress('agents look for the definitions of policies once a minute');
  await sleep(NOTICED_MS, undefined, options.signal === undefined ? {} : { signal: options.signal });
};

const HOUSES = ['gryffindor', 'slytherin', 'hufflepuff', 'ravenclaw', 'forbidden-forrest'].map(
  (house) => `network-policy-conformance-${house}`,
);
const NAMESPACES: Readonly<Record<OtherSuite, readonly string[]>> = {
  'admin-policies': HOUSES,
  'cluster-policies': HOUSES,
  cyclonus: ['w', 'x', 'y', 'y-2', 'z'],
};

const NOTICED_MS = 65_000;

/** The definitions of the policies that a suite of network-policy-api plays, of its module, with the experimental fields. */
const definitionsOf = async (suite: OtherSuite, options: EnsureOptions): Promise<ManifestObject[]> => {
  const folder = join(await sourceOf(suite, options), 'config', 'crd', 'experimental');
  const files = (await readdir(folder)).filter((name) => name.startsWith('policy.networking.k8s.io_'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as ManifestObject));
};

/** @returns the folder of the Go module that a suite plays */
const sourceOf = async (suite: OtherSuite, { env = process.env, progress }: EnsureOptions): Promise<string> => {
  const recipe = await recipeFor(suite);
  const go = await findGo(recipe, { env, progress });
  const args = ['mod', 'download', '-json', `${MODULES[suite].of}@${recipe.version}`];
  const { stdout } = await promisify(execFile)(go.file, args, { env: go.env, cwd: folderOf(suite) });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
};

/**
 * Lets the tests of network-policy-api leave out their probes of SCTP, which no kernel without it can send.
 * @returns path of a go.mod that has the changed sources beside it
 */
const writeChanged = async (suite: OtherSuite, options: EnsureOptions): Promise<string> => {
  const draft = await mkdtemp(join(tmpdir(), 'conformance-suite-'));
  const source = join(draft, 'source');
  // Files of the module cache can't be written to, nor can copies that keep their modes.
  await promisify(execFile)('cp', ['-r', '--no-preserve=mode', await sourceOf(suite, options), source]);
  const helpers = join(source, 'conformance', 'utils', 'kubernetes');
  await writeFile(join(helpers, 'helper.go'), withoutSctp(await readFile(join(helpers, 'helper.go'), 'utf8')));
  await writeFile(join(helpers, 'sctp.go'), ADDED);
  const [goMod = '', goSum = ''] = await readSources(folderOf(suite), ['go.mod', 'go.sum']);
  const modfile = join(draft, 'go.mod');
  await writeFile(modfile, `${goMod}\nreplace ${MODULES[suite].of} => ${source}\n`);
  await writeFile(join(draft, 'go.sum'), goSum);
  return modfile;
};

const ADDED = 'package kubernetes\n\n// SkipSCTP leaves out probes of SCTP.\nvar SkipSCTP bool\n';

const folderOf = (suite: OtherSuite): string => join(import.meta.dirname, MODULES[suite].folder);

/** @throws Error when go.mod names no version */
export const recipeFor = async (suite: OtherSuite): Promise<Recipe> => {
  const { of, sources }: Module = MODULES[suite];
  const texts = await readSources(folderOf(suite), ['go.mod', 'go.sum', ...sources]);
  const [goMod = ''] = texts;
  const [, version] = goMod.split(`\t${of} `).map((rest) => /^v\S+/.exec(rest)?.[0]);
  const toolchain = /^toolchain (go\S+)/m.exec(goMod)?.[1];
  if (version === undefined || toolchain === undefined) throw new Error(`go.mod of ${suite} names no version`);
  const digest = createHash('sha256')
    .update(JSON.stringify([texts, FLAGS, GO_FLAGS, ADDED, SKIP, process.arch]))
    .digest('hex');
  return { version, toolchain, key: `conformance-${suite}-${version}-${digest.slice(0, 12)}` };
};
