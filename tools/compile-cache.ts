/**
 * V8's code of the commands that people and tests type, so that they start without compiling a megabyte of source first: 0.11 s of processor
 * time for `udnctl --version`, and scenarios start hundreds. `bin/udnctl` and nodes of sandboxes read it
 * (`sandbox/machine/node-root.ts`). Node keeps it by version, user and contents of the program, and ignores what does not fit.
 *
 * Daemons have their code in a file of their own (program/compiled.ts).
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

export const COMPILE_CACHE = 'build/compile-cache';

const COMMANDS = ['udnctl'];

export const makeCompileCache = (): void => {
  rmSync(COMPILE_CACHE, { recursive: true, force: true });
  // A node has `dist/` and `build/` in another folder than this checkout.
  const env = { NODE_COMPILE_CACHE: join(process.cwd(), COMPILE_CACHE), NODE_COMPILE_CACHE_PORTABLE: '1' };
  for (const name of COMMANDS)
    execFileSync(process.execPath, [`dist/${name}.mjs`, '--version'], { env, stdio: 'ignore' });
};
