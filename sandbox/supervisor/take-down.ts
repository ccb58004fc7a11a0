/** Ends a sandbox of another process, whatever state it is in. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findArtifacts } from '../artifacts.ts';
import { hasSandboxCode, SandboxError } from '../errors.ts';
import { cgroupsFolder } from '../machine/cgroups.ts';
import { connectControl } from './control-client.ts';
import { startJanitor } from './janitor.ts';
import { isRunning, livingOwner, stateFolder } from './state-folder.ts';

/** A supervisor that does not answer for so long is ended by force; its janitor does the rest. */
const ANSWER_MS = 20_000;
const ENDING_MS = 2_000;
const POLL_MS = 5;

/** @throws SandboxError ERR_SANDBOX_DOWN when there is none */
export const takeDown = async (name: string): Promise<void> => {
  const folder = stateFolder(name);
  const cgroup = join(await cgroupsFolder(), name);
  const owner = await livingOwner(folder);
  if (owner === undefined && !existsSync(folder.path) && !existsSync(cgroup)) {
    throw new SandboxError('ERR_SANDBOX_DOWN', `the sandbox "${name}" is not up`);
  }
  if (owner !== undefined && !(await askToEnd(name))) process.kill(owner, 'SIGKILL');
  // Does nothing when all is gone, and what a janitor of a killed supervisor would have done otherwise.
  await startJanitor({ toolbox: findArtifacts().toolbox, cgroup, folder: folder.path }).clean();
  if (owner !== undefined) await untilEnded(owner);
};

/** It has answered and has nothing left to do. There is no event for the end of a process that is no child. */
const untilEnded = async (pid: number): Promise<void> => {
  for (let i = 0; i < ENDING_MS / POLL_MS && (await isRunning(pid)); i++) await sleep(POLL_MS);
};

const askToEnd = async (name: string): Promise<boolean> => {
  const down = connectControl(name)
    .down()
    .then(() => true)
    .catch((error: unknown) => hasSandboxCode(error, 'ERR_SANDBOX_DOWN'));
  return await Promise.race([down, sleep(ANSWER_MS, false, { ref: false })]);
};
