/**
 * Whether a process is in a cgroup: `populated` of its cgroup.events, of which the kernel reports each change by inotify(7)
 * (Linux, Documentation/admin-guide/cgroup-v2.rst, "[Un]populated Notification"). Of cgroup.procs it reports nothing.
 */
import { readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { FoundCgroup, WatchFolder } from './cgroup-tree.ts';

export interface PopulationOptions {
  /** Where cgroup v2 is mounted. */
  readonly folder: string;
  readonly onChange: () => void;
  /** Default: Node's. */
  readonly watch?: WatchFolder | undefined;
}

export class Population {
  readonly #options: PopulationOptions;
  #cgroup: FoundCgroup | undefined;
  #watcher: ReturnType<WatchFolder> | undefined;
  #isEmpty = false;

  constructor(options: PopulationOptions) {
    this.#options = options;
  }

  /** Nothing is in the cgroup, nor below it. False while that is not known. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** From now on this one; undefined: none. */
  follow(cgroup: FoundCgroup | undefined): void {
    if (this.#cgroup?.id === cgroup?.id && this.#cgroup?.path.join('/') === cgroup?.path.join('/')) return;
    this.stop();
    this.#cgroup = cgroup;
    this.#isEmpty = false;
    this.#watch();
    this.#isEmpty = this.#read();
  }

  /** Looks again, as after events that were lost, and watches what could not be watched before. */
  refresh(): void {
    if (this.#watcher === undefined) this.#watch();
    const before = this.#isEmpty;
    this.#isEmpty = this.#read();
    if (this.#isEmpty !== before) this.#options.onChange();
  }

  stop(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #watch(): void {
    const file = this.#file();
    if (file === undefined) return;
    try {
      const watcher = (this.#options.watch ?? watch)(file, { persistent: false }, () => this.refresh());
      // Of a cgroup that is removed; the tree reports it. For another one `refresh` makes the next.
      watcher.on('error', () => {
        watcher.close();
        if (this.#watcher === watcher) this.#watcher = undefined;
      });
      this.#watcher = watcher;
    } catch {
      // It is gone already, or the node has no more watches, which the tree reports: `refresh` tries again.
    }
  }

  #read(): boolean {
    const file = this.#file();
    try {
      return file !== undefined && /^populated 0$/m.test(readFileSync(file, 'utf8'));
    } catch {
      return false;
    }
  }

  #file(): string | undefined {
    return this.#cgroup && join(this.#options.folder, ...this.#cgroup.path, 'cgroup.events');
  }
}
