/** Waits for files by inotify. */
import { existsSync, watch } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';

/**
 * Resolves when something is at `path`, whose folder must exist.
 * @throws the signal's reason
 */
export const waitForPath = (path: string, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const watcher = watch(dirname(path), () => check());
    const finish = (settle: () => void): void => {
      watcher.close();
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => finish(() => reject(signal?.reason));
    const check = (): void => {
      if (existsSync(path)) finish(resolve);
    };
    watcher.on('error', (error) => finish(() => reject(error)));
    signal?.addEventListener('abort', onAbort, { once: true });
    check();
  });

/**
 * Resolves when a server listens on the unix socket `path`. It is bound for a moment before it listens, so a refused
 * connection is tried again.
 */
export const waitForSocket = async (path: string, signal?: AbortSignal): Promise<void> => {
  for (;;) {
    await waitForPath(path, signal);
    const answer = await new Promise<boolean>((resolve) => {
      const socket = connect(path, () => resolve(socket.destroy() !== undefined));
      socket.on('error', () => resolve(false));
    });
    if (answer) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
    signal?.throwIfAborted();
  }
};
