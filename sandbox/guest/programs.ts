/** Programs and folders of this machine that a guest gets while it runs: one that is shared starts before it is known who needs them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SandboxError } from '../errors.ts';
import type { CommandLine } from '../machine/types.ts';
import { run } from '../process/run.ts';
import { GUEST_CACHE } from './files.ts';
import { type Guest, inGuest } from './guest.ts';
import type { GuestParts } from './parts.ts';

/** Where the sandbox in there looks first (kubernetes/build.ts). */
const FOLDER = '/opt/programs';
export const GUEST_PROGRAMS = { KUBEBUILDER_ASSETS: FOLDER };

/** What comes gets its name when it is complete: others may look for it meanwhile, or bring it too. */
const TAKE_FILE = 'mkdir -p "$(dirname "$1")" && cat > "$1.$$" && chmod 755 "$1.$$" && mv "$1.$$" "$1"';
const TAKE_FOLDER = 'mkdir -p "$1.$$" && tar -x -C "$1.$$" && { mv -T "$1.$$" "$1" || rm -r "$1.$$"; }';
/** User-mode Linux sees the machine's files, which takes no time and none of its memory. */
const MOUNT_FOLDER = 'mkdir -p "$2" && mount -n -t hostfs -o "ro,hostfs=$1" machine "$2"';
const LINK_FILE = `{ mountpoint -q "$2" || { ${MOUNT_FOLDER}; }; } && mkdir -p "$(dirname "$4")" && ln -sfn "$2/$3" "$4"`;
const MACHINE = '/opt/machine';

const LIST_MISSING = 'for path; do ! test -e "$path" || echo "$path"; done';

/** What is there stays: a shared guest gets each once. @throws SandboxError ERR_SANDBOX_PART, CommandError */
export const giveParts = async (
  toolbox: string,
  guest: Guest,
  { programs, cached }: GuestParts,
  signal: AbortSignal,
): Promise<void> => {
  const desired: Parcel[] = [
    ...Object.entries(programs).map(([name, from]) => ({ kind: 'file' as const, from, to: `${FOLDER}/${name}` })),
    ...cached.map((from) => ({ kind: 'folder' as const, from, to: `${GUEST_CACHE}/${basename(from)}` })),
  ];
  if (desired.length === 0) return;
  const inside = (script: string, ...paths: string[]) => inGuest(toolbox, guest, ['sh', '-c', script, '-', ...paths]);
  const present = await run(inside(LIST_MISSING, ...desired.map(({ to }) => to)), undefined, signal);
  const missing = desired.filter(({ to }) => !present.split('\n').includes(to));
  if (guest.accelerator === 'uml') {
    for (const { kind, from, to } of missing) {
      await run(
        kind === 'file'
          ? inside(LINK_FILE, dirname(from), `${MACHINE}${dirname(from)}`, basename(from), to)
          : inside(MOUNT_FOLDER, from, to),
        undefined,
        signal,
      );
    }
    return;
  }
  for (const parcel of missing) {
    const { kind, from, to } = parcel;
    if (kind === 'file') await carry(parcel, createReadStream(from), inside(TAKE_FILE, to), signal);
    else await carryFolder(parcel, inside(TAKE_FOLDER, to), signal);
  }
};

interface Parcel {
  readonly kind: 'file' | 'folder';
  /** On this machine. */
  readonly from: string;
  /** In the guest. */
  readonly to: string;
}

const carryFolder = async (parcel: Parcel, taker: CommandLine, signal: AbortSignal): Promise<void> => {
  const pack = spawn('tar', ['-c', '-C', parcel.from, '.'], { stdio: ['ignore', 'pipe', 'ignore'], signal });
  await Promise.all([untilDone(pack, `${parcel.from} was not packed`), carry(parcel, pack.stdout, taker, signal)]);
};

const carry = async (
  { from }: Parcel,
  content: Readable,
  { file, args }: CommandLine,
  signal: AbortSignal,
): Promise<void> => {
  const child = spawn(file, args, { stdio: ['pipe', 'ignore', 'ignore'], signal });
  const done = untilDone(child, `${from} was not carried into the guest`);
  await Promise.all([pipeline(content, child.stdin, { signal }), done]);
};

const untilDone = async (child: ChildProcess, failure: string): Promise<void> => {
  await once(child, 'close');
  if (child.exitCode === 0) return;
  throw new SandboxError('ERR_SANDBOX_PART', `${failure}: status ${child.exitCode}`);
};
