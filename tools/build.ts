/**
 * Builds what `bin/` needs: one bundle per program in `dist/` (esbuild keeps the resident size and the start time of a
 * daemon low), V8's code of them, and the C programs and the addon in `build/`. What is current is left as it is.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { build, version } from 'esbuild';
import { buildNative } from './build-native.ts';
import { isBundleCurrent, recordBundle } from './bundle-record.ts';
import { COMPILE_CACHE, makeCompileCache } from './compile-cache.ts';
import { BUNDLE } from './lean-bundle.ts';
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
  const { metafile } = await build({
    entryPoints: PROGRAMS.map(({ name, entry }) => ({ out: name, in: entry })),
    outdir: 'dist',
    ...BUNDLE,
    define,
    sourcemap: true,
    metafile: true,
  });
  makeCompileCache();
  const inputs = Object.keys(metafile.inputs).filter((path) => existsSync(path));
  recordBundle(
    RECORD,
    { inputs: [...inputs, ...OWN].sort(), outputs: [...Object.keys(metafile.outputs), COMPILE_CACHE] },
    settings,
  );
};

/** How bundles are made. */
const OWN = ['build.ts', 'compile-cache.ts', 'lean-bundle.ts', 'programs.ts'].map((name) => `tools/${name}`);
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
