/** Waits for files by inotify. */
import { existsSync, watch } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { abortable } from '../../base/abort.ts';

/**
 * Resolves when something is at `path`, whose folder must exist.
 * @throws the signal's reason
 */
export const waitForPath = (path: string, signal?: AbortSignal): Promise<void> =>
  abortable(signal, (resolve, reject) => {
    const check = (): void => {
      if (existsSync(path)) resolve();
    };
    const watcher = watch(dirname(path), check);
    watcher.on('error', reject);
    check();
    return () => watcher.close();
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
