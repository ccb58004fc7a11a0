/**
 * Builds what `bin/` needs: one bundle per program in `dist/` (esbuild keeps the resident size and the start time of a
 * daemon low), V8's code of them, and the C programs and the addon in `build/`. What is current is left as it is.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { build, version } from 'esbuild';
import { buildNative } from './build-native.ts';
import { isBundleCurrent, recordBundle } from './bundle-record.ts';
import { COMPILE_CACHE, makeCompileCache } from './compile-cache.ts';
import { BUNDLE, DAEMON_BUNDLE } from './lean-bundle.ts';
import { PROGRAMS } from './programs.ts';

const main = async (): Promise<void> => {
  console.error('building programs into dist/ and build/');
  mkdirSync('dist', { recursive: true });
  mkdirSync('build', { recursive: true });
  await Promise.all([bundle(), buildNative()]);
};

const bundle = async (): Promise<void> => {
  const define = { __UDN_COMMIT__: JSON.stringify(commit()) };
  const settings = JSON.stringify([version, process.version, define]);
  if (isBundleCurrent(RECORD, settings)) return;
  const output = { outdir: 'dist', sourcemap: true, metafile: true } as const;
  const modules = PROGRAMS.map(({ name, entry, isDaemon }) => ({ out: name, in: isDaemon ? LAUNCHER : entry }));
  const daemons = PROGRAMS.flatMap(({ name, entry, isDaemon }) => (isDaemon ? [{ out: name, in: entry }] : []));
  const made = await Promise.all([
    build({ entryPoints: modules, ...output, ...BUNDLE, define }),
    build({ entryPoints: daemons, ...output, ...DAEMON_BUNDLE, define: { ...define, ...DAEMON_BUNDLE.define } }),
  ]);
  makeCompileCache();
  const codes = daemons.map(({ out }) => writeCode(out));
  const inputs = new Set(
    made.flatMap(({ metafile }) => Object.keys(metafile.inputs)).filter((path) => existsSync(path)),
  );
  const outputs = made.flatMap(({ metafile }) => Object.keys(metafile.outputs));
  recordBundle(
    RECORD,
    { inputs: [...inputs, ...OWN].sort(), outputs: [...outputs, ...codes, COMPILE_CACHE] },
    settings,
  );
};

/** @returns where it is */
const writeCode = (name: string): string => {
  const file = `build/${name}.code`;
  rmSync(file, { force: true });
  // The same bytes each time, as images of the same sources are the same.
  const command = ['--predictable', 'tools/write-code.ts', resolve(`dist/${name}.cjs`)];
  execFileSync(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit'] });
  return file;
};

const LAUNCHER = 'program/launch.ts';

/** How bundles are made. */
const OWN = ['build.ts', 'compile-cache.ts', 'lean-bundle.ts', 'programs.ts', 'write-code.ts'].map(
  (name) => `tools/${name}`,
);
const RECORD = 'build/bundles.json';

/** Of an image it is given: a build there has no checkout. */
const commit = (): string => {
  const given = process.env['UDN_COMMIT'];
  if (given !== undefined && given !== '') return given;
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
};

await main();
