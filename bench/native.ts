/** The C programs of the benchmarks: what measures must be small, and what is compared with must be straight. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export type NativeName = 'stopwatch' | 'floor' | 'peak' | 'forward' | 'connect' | 'drops';

/** The path of a static program, compiled again when its source is newer. */
export const nativeProgram = (name: NativeName): string => {
  const source = join(import.meta.dirname, 'native', `${name}.c`);
  const output = join(OUTPUT, name);
  mkdirSync(OUTPUT, { recursive: true });
  if (modified(source) > modified(output)) {
    execFileSync('gcc', [...FLAGS, '-o', output, source], { stdio: ['ignore', 'inherit', 'inherit'] });
  }
  return output;
};

const OUTPUT = join(import.meta.dirname, '..', 'build', 'bench');
const FLAGS = ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-static', '-s'];

/** 0 for a file that is not there. */
const modified = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
