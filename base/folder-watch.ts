/**
 * Reports when entries of a folder may have changed, without polling: it asks inotify(7) for the folder, and looks every few seconds
 * for a folder that is not there or was recreated.
 */
import { type FSWatcher, statSync, watch } from 'node:fs';

export interface FolderWatchOptions {
  readonly folder: string;
  /** An entry was made, written, renamed or removed, or the folder itself came, went or was recreated. */
  readonly onChange: () => void;
  /** Between two looks at the folder itself. */
  readonly lookMs?: number | undefined;
}

export class FolderWatch {
  readonly #folder: string;
  readonly #onChange: () => void;
  readonly #timer: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #folderId: string | undefined;

  constructor({ folder, onChange, lookMs = 2_000 }: FolderWatchOptions) {
    this.#folder = folder;
    this.#onChange = onChange;
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
    this.#watch();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
  }

  #look(): void {
    const id = fileIdentity(this.#folder);
    if (id === this.#folderId && (id === undefined || this.#watcher !== undefined)) return;
    this.#watch();
    this.#onChange();
  }

  #watch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#folderId = fileIdentity(this.#folder);
    if (this.#folderId === undefined) return;
    try {
      const watcher = watch(this.#folder, { persistent: false }, () => this.#onChange());
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
}

/**
 * Undefined: there is none, or it cannot be looked at. The kernel gives a number again at once to the next file: the time distinguishes
 * them.
 */
export const fileIdentity = (path: string): string | undefined => {
  try {
    const { dev, ino, birthtimeNs } = statSync(path, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return undefined;
  }
};
