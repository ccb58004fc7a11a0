/** The real kernel. */
import { closeSync, openSync } from 'node:fs';
import { fromSystemError } from '../errors.ts';
import { deleteGroup } from '../link/codec.ts';
import type { NetlinkListener } from '../monitor/events.ts';
import { Monitor } from '../monitor/monitor.ts';
import type { NetlinkAddon } from './addon.ts';
import { coalesced } from './coalesced.ts';
import { FdIo } from './fd-io.ts';
import { LinuxNetns, openSocket } from './linux-netns.ts';
import type { Kernel, Netns } from './types.ts';

export interface LinuxKernelOptions {
  /** The namespace that counts as the own one, where that is not the process'. For tests and simulated nodes. */
  readonly ownNetns?: string | undefined;
}

interface OpenNetns {
  readonly netns: LinuxNetns;
  /** −1 for the process' own. */
  readonly fd: number;
}

const OWN = '';

/** Keeps the own namespace's socket open; others are opened on demand and closed by `release`. */
export class LinuxKernel implements Kernel, Disposable {
  readonly #addon: NetlinkAddon;
  readonly #ownNetns: string | undefined;
  readonly #buffer = FdIo.newBuffer();
  readonly #open = new Map<string, OpenNetns>();
  readonly #groups = new Map<number, () => Promise<void>>();

  constructor(addon: NetlinkAddon, { ownNetns }: LinuxKernelOptions = {}) {
    this.#addon = addon;
    this.#ownNetns = ownNetns;
  }

  netns(path?: string): Netns {
    return this.#opened(path).netns;
  }

  deleteGroup(group: number): Promise<void> {
    const known = this.#groups.get(group);
    const deleteOnce = known ?? coalesced(() => this.#deleteGroup(group));
    if (known === undefined) this.#groups.set(group, deleteOnce);
    return deleteOnce();
  }

  /** Emits changes of the own namespace, from now on. */
  watch(listener: NetlinkListener, receiveBytes?: number): Monitor {
    const { netns, fd } = this.#opened();
    const nameOf = (index: number): string | undefined => netns.linkByIndex(index)?.name;
    return new Monitor({ addon: this.#addon, netnsFd: fd, nameOf, receiveBytes, listener });
  }

  release(): void {
    for (const path of [...this.#open.keys()]) if (path !== OWN) this.#close(path);
    this.#open.get(OWN)?.netns.forget();
  }

  [Symbol.dispose](): void {
    for (const path of [...this.#open.keys()]) this.#close(path);
  }

  #opened(path?: string): OpenNetns {
    const key = path ?? OWN;
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const fd = openNetns(path ?? this.#ownNetns);
    const netns = new LinuxNetns({
      fd,
      addon: this.#addon,
      buffer: this.#buffer,
      fdOf: (other) => this.#opened(other).fd,
    });
    const opened = { netns, fd };
    this.#open.set(key, opened);
    try {
      netns.open();
    } catch (error) {
      this.#close(key);
      throw error;
    }
    return opened;
  }

  /** On a socket of its own, because nothing else may use it before the answer is there. */
  async #deleteGroup(group: number): Promise<void> {
    const { socket, fd } = openSocket(this.#addon, this.#opened().fd, FdIo.newBuffer());
    try {
      const refusal = await socket.changeInBackground(deleteGroup(group));
      if (refusal !== undefined && refusal.code !== 'ENODEV') throw refusal;
    } catch (error) {
      throw fromSystemError(`delete links of group ${group}`, error);
    } finally {
      closeSync(fd);
    }
  }

  #close(path: string): void {
    const opened = this.#open.get(path);
    this.#open.delete(path);
    opened?.netns.close();
    if (opened !== undefined && opened.fd >= 0) closeSync(opened.fd);
  }
}

const openNetns = (path: string | undefined): number => {
  if (path === undefined) return -1;
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw fromSystemError(`open network namespace ${path}`, error);
  }
};
