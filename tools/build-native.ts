/** Compiles the C parts. Each target is made again only when its source is newer than it. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, globSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

interface NativeTarget {
  readonly output: string;
  readonly sources: readonly string[];
  /** What the sources include. */
  readonly headers?: readonly string[];
  /** `addon`: a Node-API shared object; `static`: a program without shared libraries, musl where there is musl-gcc. */
  readonly kind: 'addon' | 'static';
}

const TARGETS: readonly NativeTarget[] = [
  { output: 'build/nlsock.node', sources: ['datapath/netlink/native/nlsock.c'], kind: 'addon' },
  { output: 'build/peercred.node', sources: ['datapath/unix-socket/native/peercred.c'], kind: 'addon' },
  { output: 'build/spawn.node', sources: ['datapath/exec/native/spawn.c'], kind: 'addon' },
  { output: 'build/lock.node', sources: ['program/native/lock.c'], kind: 'addon' },
  { output: 'build/memory.node', sources: ['program/native/memory.c'], kind: 'addon' },
  {
    output: 'build/udn-cni',
    sources: ['cni-shim/run.c', 'cni-shim/udn-cni.c'],
    headers: ['cni-shim/run.h'],
    kind: 'static',
  },
  {
    output: 'build/toolbox',
    sources: globSync('sandbox/toolbox/*.c').sort(),
    headers: globSync('sandbox/toolbox/*.h'),
    kind: 'static',
  },
];

const WARNINGS = ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror'];

export const buildNative = (): void => {
  for (const target of TARGETS) if (isStale(target)) compile(target);
};

const isStale = ({ output, sources, headers = [] }: NativeTarget): boolean => {
  const made = modified(output);
  return made === undefined || [...sources, ...headers].some((source) => (modified(source) ?? 0) > made);
};

const modified = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs;

const compile = ({ output, sources, kind }: NativeTarget): void => {
  mkdirSync(dirname(output), { recursive: true });
  const [compiler, flags] =
    kind === 'addon'
      ? ['gcc', ['-shared', '-fPIC', '-I', 'node_modules/node-api-headers/include']]
      : [isOnPath('musl-gcc') ? 'musl-gcc' : 'gcc', ['-static', '-s']];
  // In one step, and as another file: whoever runs with the old one would crash if it changed under its feet.
  const fresh = `${output}.new`;
  execFileSync(compiler, [...WARNINGS, ...flags, '-o', fresh, ...sources], { stdio: 'inherit' });
  renameSync(fresh, output);
};

const isOnPath = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
