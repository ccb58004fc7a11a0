/**
 * Folders of captures, which end with their process: udnctl makes them, and whoever comes next, another capture or the agent at
 * its start, deletes those of processes that were killed.
 *
 * A process that lives answers at a socket in its folder. A pid would not do: the agent's container has pids of its own, and another
 * container of the same node, as the one before a restart, has the same numbers.
 */
import { lstat, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

/** No folder that udnctl names for its user begins so: those are results, and have a hyphen here. */
const PREFIX = 'udn-capture.';
/** Hidden: no file of the capture is. */
const SOCKET = '.alive';

export interface CaptureFolder extends AsyncDisposable {
  readonly path: string;
}

/** For this user alone, until it is disposed of, or until the process ends and `removeAbandoned` is called. */
export const openCaptureFolder = async (parent: string): Promise<CaptureFolder> => {
  const path = await mkdtemp(join(parent, PREFIX));
  try {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(join(path, SOCKET), resolve);
    });
    server.unref();
    return {
      path,
      [Symbol.asyncDispose]: async () => {
        await rm(path, { recursive: true, force: true });
        server.close();
      },
    };
  } catch (error) {
    await rm(path, { recursive: true, force: true });
    throw error;
  }
};

/** What cannot be deleted stays. @param now milliseconds since the epoch @returns what was deleted */
export const removeAbandoned = async (parent: string, now: number): Promise<readonly string[]> => {
  const names = (await readdir(parent).catch(() => [])).filter((name) => name.startsWith(PREFIX));
  const removed: string[] = [];
  for (const path of names.map((name) => join(parent, name))) {
    // Another process may have just deleted it, too.
    if (await removeIfAbandoned(path, now).catch(() => false)) removed.push(path);
  }
  return removed;
};

const removeIfAbandoned = async (path: string, now: number): Promise<boolean> => {
  const stats = await lstat(path);
  // Everybody may make a folder of this name in /tmp, and exchange what is in it while it is deleted.
  if (!stats.isDirectory() || stats.uid !== process.getuid?.() || (stats.mode & 0o077) !== 0) return false;
  const state = await stateOf(join(path, SOCKET));
  if (state === 'dead') await rm(path, { recursive: true });
  // It has no files before it has the socket: one that has is somebody's own.
  else if (state === 'missing' && now - stats.mtimeMs > YOUNG_MS) await rmdir(path);
  else return false;
  return true;
};

/** Time enough for a folder that was just made to get its socket. */
const YOUNG_MS = 60_000;

/** unix(7): nobody listens at the socket of a process that was killed. */
const stateOf = (path: string): Promise<'alive' | 'dead' | 'missing'> =>
  new Promise((resolve) => {
    const socket = connect(path);
    const settle = (state: 'alive' | 'dead' | 'missing'): void => {
      socket.destroy();
      resolve(state);
    };
    socket.once('connect', () => settle('alive'));
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      settle(code === 'ECONNREFUSED' ? 'dead' : code === 'ENOENT' ? 'missing' : 'alive'),
    );
  });
