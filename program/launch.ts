/** Runs the daemon of which this is the launcher: `NAME.cjs` beside `NAME.mjs`. */
import { fileURLToPath } from 'node:url';
import { compile, readCode, run } from './compiled.ts';

const bundle = fileURLToPath(import.meta.url).replace(/\.mjs$/, '.cjs');
run(compile(bundle, readCode(bundle)));
