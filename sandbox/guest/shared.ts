/**
 * One guest for many sandboxes of a run, for example for a lane of tests. It starts with the first that needs it and ends
 * with the process that shares it, whose children find it by an environment variable.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { messageOf } from '../../base/error-message.ts';
import { findArtifacts } from '../artifacts.ts';
import { SandboxError } from '../errors.ts';
import { claimWorkspace } from '../supervisor/workspace.ts';
import { ACCELERATORS } from './accelerator.ts';
import { type Guest, startGuest } from './guest.ts';
import { ensureGuestImages } from './images.ts';

/** The path of the socket that gives the guest away. */
const VARIABLE = 'UDN_SHARED_GUEST';
/** Without what has to be made first, which takes half a minute once. */
const STARTING_MS = 120_000;
const MEMORY_MIB = 6144;

const answerSchema = z.union([
  z.object({ socket: z.string(), accelerator: z.enum(ACCELERATORS) }),
  z.object({ error: z.string() }),
]);

/** The guest that an ancestor of this process shares, started when it is not there yet; undefined without one. */
export const borrowGuest = async (env: NodeJS.ProcessEnv = process.env): Promise<Guest | undefined> => {
  const path = env[VARIABLE];
  if (path === undefined || path === '') return undefined;
  const answer = answerSchema.parse(JSON.parse(await text(connect(path))));
  if ('error' in answer) throw new SandboxError('ERR_SANDBOX_PART', answer.error);
  return { ...answer, ended: new Promise(() => {}) };
};

/** Shares a guest with processes that are started from now on. Disposing of it ends the guest. */
export const shareGuest = async (env: NodeJS.ProcessEnv = process.env): Promise<AsyncDisposable> => {
  const folder = await mkdtemp(join(tmpdir(), 'shared-guest-'));
  // Ctrl-C may end the process before anybody disposes of this; the guest itself ends with its owner.
  const forget = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', forget);
  const stop = new AbortController();
  let starting: Promise<SharedGuest> | undefined;
  const answer = async (client: Socket): Promise<void> => {
    client.on('error', () => {});
    starting ??= startShared(stop.signal);
    const reply = await starting.then(
      ({ guest: { socket, accelerator } }) => ({ socket, accelerator }),
      (error: unknown) => ({ error: `there is no shared guest: ${messageOf(error)}` }),
    );
    client.end(JSON.stringify(reply));
  };
  const server = createServer((client) => void answer(client));
  server.listen(join(folder, 'socket'));
  await once(server, 'listening');
  env[VARIABLE] = join(folder, 'socket');
  return {
    [Symbol.asyncDispose]: async () => {
      delete env[VARIABLE];
      server.close();
      stop.abort(new SandboxError('ERR_SANDBOX_PART', 'stopped'));
      await (await starting?.catch(() => undefined))?.end();
      process.off('exit', forget);
      await rm(folder, { recursive: true, force: true });
    },
  };
};

interface SharedGuest {
  readonly guest: Guest;
  end(): Promise<void>;
}

const startShared = async (stop: AbortSignal): Promise<SharedGuest> => {
  const artifacts = findArtifacts();
  const images = await ensureGuestImages(artifacts, () => {});
  const { folder, cgroup, janitor } = await claimWorkspace(`shared-guest-${process.pid}`, artifacts);
  const signal = AbortSignal.any([stop, AbortSignal.timeout(STARTING_MS)]);
  const spec = { artifacts, images, folder: folder.path, logs: folder.logs, cgroupRoot: cgroup, memoryMib: MEMORY_MIB };
  try {
    return { guest: await startGuest(spec, signal), end: () => janitor.clean() };
  } catch (error) {
    await janitor.clean();
    throw error;
  }
};
