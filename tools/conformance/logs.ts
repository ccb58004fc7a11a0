/** The logs of a cluster, which go with it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { findArtifacts } from '../../sandbox/artifacts.ts';
import { guestStateFolder } from '../../sandbox/guest/control.ts';
import { inGuest } from '../../sandbox/guest/guest.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import type { GuestStatus } from '../../sandbox/supervisor/types.ts';

/** Copies those of this machine, and those of the guest that the cluster is in. */
export const copyLogs = async (sandbox: Sandbox, target: string): Promise<void> => {
  const { folder, guest } = await sandbox.status();
  await mkdir(target, { recursive: true });
  await cp(join(folder, 'log'), target, { recursive: true, force: true });
  if (guest !== undefined) await unpackFrom(guest, guestStateFolder(sandbox.name).logs, target);
};

/** What tar says of files that grow meanwhile is of no interest. */
const unpackFrom = async (guest: GuestStatus, folder: string, target: string): Promise<void> => {
  const { toolbox } = findArtifacts();
  const { file, args } = inGuest(toolbox, guest, ['tar', '-c', '-C', folder, '.']);
  const pack = spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const unpack = spawn('tar', ['-x', '-C', target], { stdio: ['pipe', 'ignore', 'ignore'] });
  await Promise.all([once(pack, 'close'), once(unpack, 'close'), pipeline(pack.stdout, unpack.stdin)]);
};
