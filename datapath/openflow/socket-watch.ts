/**
 * Reports when a bridge's socket appears: then ovs-vswitchd has made the bridge, without polling.
 * It asks inotify(7) for the folder, and looks every few seconds for a folder that is not there or was recreated.
 */
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Where ovs-vswitchd has its sockets, ovs-vswitchd(8). */
export const RUN_DIRECTORY = '/var/run/openvswitch';

const SUFFIX = '.mgmt';

export interface SocketWatchOptions {
  readonly folder?: string | undefined;
  /** Between two looks at the folder itself. */
  readonly lookMs?: number | undefined;
}

export class SocketWatch {
  readonly #folder: string;
  readonly #listeners = new Set<(bridge: string) => void>();
  readonly #timer: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #folderId: string | undefined;
  /** Bridge → which socket it has. */
  #sockets: ReadonlyMap<string, string>;

  constructor({ folder = RUN_DIRECTORY, lookMs = 2_000 }: SocketWatchOptions = {}) {
    this.#folder = folder;
    this.#sockets = socketsIn(folder);
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
    this.#watch();
  }

  /** Of sockets that appear from now on. @returns what ends it */
  listen(listener: (bridge: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
    this.#listeners.clear();
  }

  #look(): void {
    if (this.#watcher !== undefined && idOf(this.#folder) === this.#folderId) return;
    this.#watch();
    this.#compare();
  }

  #watch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#folderId = idOf(this.#folder);
    if (this.#folderId === undefined) return;
    try {
      const watcher = watch(this.#folder, { persistent: false }, () => this.#compare());
      watcher.on('error', () => this.#drop(watcher));
      this.#watcher = watcher;
    } catch {
      // The folder went, or the node has no more watches to give: the timer tries again.
    }
  }

  #drop(watcher: FSWatcher): void {
    watcher.close();
    if (this.#watcher === watcher) this.#watcher = undefined;
  }

  #compare(): void {
    const before = this.#sockets;
    this.#sockets = socketsIn(this.#folder);
    for (const [bridge, id] of this.#sockets) {
      if (before.get(bridge) === id) continue;
      for (const listener of this.#listeners) listener(bridge);
    }
  }
}

const socketsIn = (folder: string): Map<string, string> => {
  const found = new Map<string, string>();
  for (const name of namesIn(folder)) {
    if (!name.endsWith(SUFFIX)) continue;
    const id = idOf(join(folder, name));
    if (id !== undefined) found.set(name.slice(0, -SUFFIX.length), id);
  }
  return found;
};

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** The kernel gives a number again at once to the next file: the time distinguishes them. */
const idOf = (path: string): string | undefined => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}:${found.birthtimeNs}`;
};
