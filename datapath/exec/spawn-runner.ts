/**
 * A `CommandRunner` for processes that are large. libuv starts programs with fork(2), which copies the page tables: 2 ms with
 * 50 MiB, 35 ms with 470, in which nothing else is done. posix_spawn(3) takes 0.1 ms however large the process is (ADR 37).
 * Programs that report lines are started once and run for days: they are left to the other runner.
 */
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { constants as system } from 'node:os';
import { delimiter, join } from 'node:path';
import { codeOf } from '../../base/error-code.ts';
import { messageOf } from '../../base/error-message.ts';
import { type CommandRunnerOptions, createCommandRunner } from './node-runner.ts';
import type { Start } from './program.ts';
import type { BatchRunner } from './types.ts';

/** For programs that may be large, which then say where the addon is. */
export const openCommandRunner = (spawnAddon: string | undefined): BatchRunner =>
  spawnAddon === undefined ? createCommandRunner() : loadCommandRunner(spawnAddon);

/** @param addonPath what `make build` makes of `native/spawn.c`. @throws Error when it cannot be loaded */
export const loadCommandRunner = (addonPath: string, options: CommandRunnerOptions = {}): BatchRunner => {
  const addon: unknown = createRequire(import.meta.url)(addonPath);
  if (!isAddon(addon)) throw new TypeError(`${addonPath} is not the addon that starts programs`);
  return createCommandRunner(options, startBy(addon));
};

interface Addon {
  start(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string | undefined,
    hasInput: boolean,
  ): readonly number[];
  reap(pid: number): number;
}

const isAddon = (value: unknown): value is Addon =>
  typeof value === 'object' && value !== null && 'start' in value && 'reap' in value;

const startBy =
  (addon: Addon): Start =>
  ({ file, args, cwd, input }, environment) => {
    const variables = Object.entries(environment).map((entry) => entry.join('='));
    const path = locate(file, environment['PATH'] ?? '');
    const [child = -1, stdin = -1, stdout = -1, stderr = -1, end = -1] = named(() =>
      addon.start(path, [file, ...args], variables, cwd, input !== undefined),
    );
    let pid: number | undefined = child;
    return {
      stdin: stdin < 0 ? undefined : new Socket({ fd: stdin, readable: false, writable: true }),
      stdout: readable(stdout),
      stderr: readable(stderr),
      ended: new Promise((resolve) => {
        // Until then the number is that of no other process.
        const socket = readable(end).once('close', () => {
          pid = undefined;
          resolve(endingOf(addon.reap(child)));
        });
        // It is closed as it is when it has ended.
        socket.on('error', () => {});
        socket.resume();
      }),
      kill: (signal) => {
        if (pid !== undefined) process.kill(pid, signal);
      },
    };
  };

/** The message of the addon's error lacks its name. */
const named = <T>(start: () => T): T => {
  try {
    return start();
  } catch (cause) {
    const code = codeOf(cause) ?? '';
    throw Object.assign(new Error(`${code} ${messageOf(cause)}`, { cause }), { code });
  }
};

const readable = (fd: number): Socket => new Socket({ fd, readable: true, writable: false });

/** @param status as waitpid(2) encodes it: the signal below, the exit status above */
const endingOf = (status: number): { readonly exitCode: number } | { readonly signal: string } => {
  const signal = status & 0x7f;
  return signal === 0 ? { exitCode: status >> 8 } : { signal: nameOf(signal) };
};

/** As execvp(3) looks for it. What is nowhere is tried as it is, for the system to say why not. */
const locate = (file: string, path: string): string =>
  file.includes('/')
    ? file
    : (path
        .split(delimiter)
        .map((folder) => join(folder, file))
        .find(isExecutable) ?? file);

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const nameOf = (signal: number): string =>
  Object.entries(system.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
