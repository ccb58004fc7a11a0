/** Reports when a bridge's socket appears: then ovs-vswitchd has made the bridge, without polling. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FolderWatch, fileIdentity } from '../../base/folder-watch.ts';

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
  readonly #watch: FolderWatch;
  /** Bridge → which socket it has. */
  #sockets: ReadonlyMap<string, string>;

  constructor({ folder = RUN_DIRECTORY, lookMs }: SocketWatchOptions = {}) {
    this.#folder = folder;
    this.#sockets = socketsIn(folder);
    this.#watch = new FolderWatch({ folder, lookMs, onChange: () => this.#compare() });
  }

  /** Of sockets that appear from now on. @returns what ends it */
  listen(listener: (bridge: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#watch.close();
    this.#listeners.clear();
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
    const id = fileIdentity(join(folder, name));
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
