/**
 * Mirrors the part of the cgroup tree that matters, by inotify(7): the kernel reports every cgroup that is made or removed
 * in a folder that is watched. There is one watch for each slice, none for pods and containers.
 */
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../../base/error-code.ts';
import { type CgroupKind, classifyCgroup } from './classify.ts';

export interface FoundCgroup {
  readonly path: readonly string[];
  readonly kind: Exclude<CgroupKind, { kind: 'folder' }>;
  /** Inode. */
  readonly id: string;
}

export interface CgroupTreeOptions {
  readonly folder: string;
  /** The kubelet's path when it is given and not looked for. */
  readonly kubelet?: readonly string[] | undefined;
  readonly onFound: (cgroup: FoundCgroup) => void;
  readonly onGone: (cgroup: FoundCgroup) => void;
  /** A folder that is there is not watched: what happens in it is found by `refresh`, which also tries again. */
  readonly onUnwatched: (error: unknown, path: readonly string[]) => void;
  /** Default: Node's. */
  readonly watch?: WatchFolder | undefined;
}

export type WatchFolder = (
  folder: string,
  options: { readonly persistent: boolean },
  listener: (event: string, name: string | null) => void,
) => Pick<FSWatcher, 'close' | 'on'>;

interface Node {
  readonly id: string;
  readonly found?: FoundCgroup;
  /** Absent: not a folder to look into, or one that cannot be watched. */
  watcher?: ReturnType<WatchFolder> | undefined;
  readonly children: Map<string, Node>;
}

export class CgroupTree {
  readonly #options: CgroupTreeOptions;
  #root: Node | undefined;

  constructor(options: CgroupTreeOptions) {
    this.#options = options;
  }

  /** Emits everything that is there before this returns. */
  start(): void {
    this.#root = this.#watched([], inodeOf(this.#options.folder) ?? '');
  }

  /** Looks at everything again, as after events that were lost, and watches what could not be watched before. */
  refresh(): void {
    if (this.#root !== undefined) this.#lookInto([], this.#root);
  }

  stop(): void {
    if (this.#root !== undefined) closeAll(this.#root);
    this.#root = undefined;
  }

  /** The watch comes first: it reports what is made after the reading. */
  #watched(path: readonly string[], id: string): Node {
    const node: Node = { id, children: new Map() };
    this.#watch(path, node);
    this.#scan(path, node);
    return node;
  }

  #watch(path: readonly string[], node: Node): void {
    const { folder, watch: watchFolder = watch, onUnwatched } = this.#options;
    try {
      const watcher = watchFolder(join(folder, ...path), { persistent: false }, (_, name) =>
        this.#changed(path, watcher, name),
      );
      // Mostly of a folder that is removed; its parent reports it. For another one `refresh` makes the next.
      watcher.on('error', () => {
        watcher.close();
        if (node.watcher === watcher) node.watcher = undefined;
      });
      node.watcher = watcher;
    } catch (error) {
      // It is gone already, and its parent reports it. Else the node has no more watches to give: ENOSPC, EMFILE of
      // inotify(7).
      if (codeOf(error) !== 'ENOENT') onUnwatched(error, path);
    }
  }

  /** A folder that is as it was, which would have reported its changes itself. */
  #lookInto(path: readonly string[], node: Node): void {
    if (node.watcher === undefined) this.#watch(path, node);
    this.#scan(path, node, true);
  }

  #changed(path: readonly string[], watcher: Node['watcher'], name: string | null): void {
    const node = this.#nodeAt(path);
    // Of a folder that was recreated since.
    if (node === undefined || node.watcher !== watcher) return;
    if (name === null) this.#scan(path, node);
    else this.#look([...path, name], node);
  }

  #nodeAt(path: readonly string[]): Node | undefined {
    let node = this.#root;
    for (const name of path) node = node?.children.get(name);
    return node;
  }

  #scan(path: readonly string[], node: Node, isDeep = false): void {
    const names = new Set([...namesIn(join(this.#options.folder, ...path)), ...node.children.keys()]);
    for (const name of names) this.#look([...path, name], node, isDeep);
  }

  /** @param isDeep also into folders that are as they were */
  #look(path: readonly string[], parent: Node, isDeep = false): void {
    const name = path.at(-1) ?? '';
    const kind = classifyCgroup(path, this.#options.kubelet);
    if (kind === undefined) return;
    const id = inodeOf(join(this.#options.folder, ...path));
    const before = parent.children.get(name);
    if (before !== undefined && before.id === id) {
      if (isDeep && before.found === undefined) this.#lookInto(path, before);
      return;
    }
    if (before !== undefined) this.#remove(parent, name, before);
    if (id === undefined) return;
    if (kind.kind === 'folder') {
      parent.children.set(name, this.#watched(path, id));
      return;
    }
    const found = { path, kind, id };
    parent.children.set(name, { id, found, children: new Map() });
    this.#options.onFound(found);
  }

  #remove(parent: Node, name: string, node: Node): void {
    parent.children.delete(name);
    node.watcher?.close();
    for (const [child, below] of [...node.children]) this.#remove(node, child, below);
    if (node.found !== undefined) this.#options.onGone(node.found);
  }
}

const closeAll = (node: Node): void => {
  node.watcher?.close();
  for (const child of node.children.values()) closeAll(child);
};

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
};

/** Undefined when there is no such folder, or it is being removed. */
const inodeOf = (path: string): string | undefined => {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats?.isDirectory() ? String(stats.ino) : undefined;
  } catch {
    return undefined;
  }
};
