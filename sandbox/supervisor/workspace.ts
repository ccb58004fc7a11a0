/** What a sandbox has on this machine before anything runs in it: its folder, its cgroup, and who cleans both up. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Artifacts } from '../artifacts.ts';
import { cgroupsFolder } from '../machine/cgroups.ts';
import { type Janitor, startJanitor } from './janitor.ts';
import { retryAbsent } from './retry-absent.ts';
import { claimStateFolder, type StateFolder } from './state-folder.ts';

export interface Workspace {
  readonly folder: StateFolder;
  readonly cgroup: string;
  /** Ends and removes everything. What starts has to have ended or settled before: nothing may come back afterwards. */
  readonly janitor: Janitor;
}

/** @throws SandboxError ERR_SANDBOX_EXISTS when a living process has it */
export const claimWorkspace = async (name: string, { toolbox }: Artifacts): Promise<Workspace> => {
  const cgroup = join(await cgroupsFolder(), name);
  const janitorFor = ({ path }: StateFolder): Janitor => startJanitor({ toolbox, cgroup, folder: path });
  const folder = await claimStateFolder(name, (stale) => janitorFor(stale).clean());
  const janitor = janitorFor(folder);
  try {
    await retryAbsent(() => mkdir(cgroup, { recursive: true }));
  } catch (error) {
    await janitor.clean();
    throw error;
  }
  return { folder, cgroup, janitor };
};
