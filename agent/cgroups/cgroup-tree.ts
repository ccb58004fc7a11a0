/**
 * Mirrors the part of the cgroup tree that matters, by inotify(7): the kernel tells of every cgroup that is made or removed
 * in a folder that is watched. There is one watch for each slice, none for pods and containers.
 */
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
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
}

interface Node {
  readonly id: string;
  readonly found?: FoundCgroup;
  readonly watcher?: FSWatcher;
  readonly children: Map<string, Node>;
}

export class CgroupTree {
  readonly #options: CgroupTreeOptions;
  #root: Node | undefined;

  constructor(options: CgroupTreeOptions) {
    this.#options = options;
  }

  /** Everything that is there is told before this returns. */
  start(): void {
    this.#root = this.#watched([], inodeOf(this.#options.folder) ?? '');
  }

  /** Looks at everything again, as after events that were lost. */
  refresh(): void {
    if (this.#root !== undefined) this.#scan([], this.#root, true);
  }

  stop(): void {
    if (this.#root !== undefined) closeAll(this.#root);
    this.#root = undefined;
  }

  /** The watch comes first: what is made after the reading is told. */
  #watched(path: readonly string[], id: string): Node {
    const node: Node = { id, children: new Map(), ...this.#watch(path) };
    this.#scan(path, node);
    return node;
  }

  #watch(path: readonly string[]): Pick<Node, 'watcher'> {
    try {
      const watcher = watch(join(this.#options.folder, ...path), { persistent: false }, (_, name) =>
        this.#changed(path, watcher, name),
      );
      // Of a folder that is removed; its parent tells.
      watcher.on('error', () => watcher.close());
      return { watcher };
    } catch {
      // It is gone already, and its parent tells.
      return {};
    }
  }

  #changed(path: readonly string[], watcher: FSWatcher, name: string | null): void {
    const node = this.#nodeAt(path);
    // Of a folder that was made anew since.
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

  /** @param isDeep also into folders that are as they were, which would have told their changes themselves */
  #look(path: readonly string[], parent: Node, isDeep = false): void {
    const name = path.at(-1) ?? '';
    const kind = classifyCgroup(path, this.#options.kubelet);
    if (kind === undefined) return;
    const id = inodeOf(join(this.#options.folder, ...path));
    const before = parent.children.get(name);
    if (before !== undefined && before.id === id) {
      if (isDeep && before.watcher !== undefined) this.#scan(path, before, isDeep);
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

/** Undefined when there is no such folder. */
const inodeOf = (path: string): string | undefined => {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats?.isDirectory() ? String(stats.ino) : undefined;
};
