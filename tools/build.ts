/**
 * Builds what `bin/` needs: one bundle per program in `dist/` (esbuild keeps the resident size and the start time of a
 * daemon low), and the C programs and the addon in `build/`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { build } from 'esbuild';
import { buildNative } from './build-native.ts';
import { BUNDLE } from './lean-bundle.ts';
import { PROGRAMS } from './programs.ts';

const main = async (): Promise<void> => {
  console.error('building programs into dist/ and build/');
  mkdirSync('dist', { recursive: true });
  mkdirSync('build', { recursive: true });
  await Promise.all([bundle(), buildNative()]);
};

const bundle = async (): Promise<void> => {
  await build({
    entryPoints: PROGRAMS.map(({ name, entry }) => ({ out: name, in: entry })),
    outdir: 'dist',
    ...BUNDLE,
    define: { __UDN_COMMIT__: JSON.stringify(commit()) },
    sourcemap: true,
  });
};

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
