/**
 * Builds what `bin/` needs: one bundle per program in `dist/` (esbuild keeps the resident size and the start time of a
 * daemon low), and the C programs and the addon in `build/`.
 */
import { mkdirSync } from 'node:fs';
import { build } from 'esbuild';
import { buildNative } from './build-native.ts';
import { BUNDLE } from './lean-bundle.ts';
import { PROGRAMS } from './programs.ts';

const main = async (): Promise<void> => {
  mkdirSync('dist', { recursive: true });
  mkdirSync('build', { recursive: true });
  await Promise.all([bundle(), buildNative()]);
};

const bundle = async (): Promise<void> => {
  await build({
    entryPoints: PROGRAMS.map(({ name, entry }) => ({ out: name, in: entry })),
    outdir: 'dist',
    ...BUNDLE,
    sourcemap: true,
  });
};

await main();
