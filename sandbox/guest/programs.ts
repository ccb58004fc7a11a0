/** Programs that a guest has no way to get: they are carried into it from this machine's cache. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { SandboxError } from '../errors.ts';
import { type Guest, inGuest } from './guest.ts';

/** Where the sandbox in there looks first (kubernetes/build.ts). */
const FOLDER = '/opt/programs';
export const GUEST_PROGRAMS = { KUBEBUILDER_ASSETS: FOLDER };

/** A guest of several clusters has it once: it is there under its name when it is complete. */
const RECEIVE =
  'test -e "$1" && exec cat > /dev/null; mkdir -p "$(dirname "$1")" && cat > "$1.$$" && chmod 755 "$1.$$" && mv "$1.$$" "$1"';

/** Paths on this machine, by name. */
export type GuestPrograms = Readonly<Record<string, string>>;

/** @throws SandboxError ERR_SANDBOX_PART */
export const carryPrograms = async (
  toolbox: string,
  guest: Guest,
  programs: GuestPrograms,
  signal: AbortSignal,
): Promise<void> => {
  for (const [name, path] of Object.entries(programs)) {
    const { file, args } = inGuest(toolbox, guest, ['sh', '-c', RECEIVE, '-', `${FOLDER}/${name}`]);
    const child = spawn(file, args, { stdio: ['pipe', 'ignore', 'ignore'], signal });
    const ended = once(child, 'close');
    await Promise.all([pipeline(createReadStream(path), child.stdin, { signal }), ended]);
    if (child.exitCode === 0) continue;
    throw new SandboxError('ERR_SANDBOX_PART', `${name} was not carried into the guest: status ${child.exitCode}`);
  }
};
