/** Frame filters as nf_tables keeps them: shared chains stay until they are deleted, or until nothing is left at all. */
import { constants } from 'node:os';
import type { Mac } from '../../../net/mac.ts';
import { kernelError } from '../errors.ts';
import { type FrameFilter, filterDigest, type ObservedFilters } from '../frame-filter/types.ts';

const { EBUSY, ENOENT } = constants.errno;

export class FakeFilters {
  readonly #filters = new Map<string, FrameFilter>();
  /** Whether it has its rules, by name. */
  readonly #shared = new Map<string, boolean>();
  /** Links whose chain has another policy. */
  readonly #loose = new Set<string>();
  readonly #lockedMacs = new Set<Mac>();

  observe(filters?: readonly FrameFilter[]): ObservedFilters {
    const links = filters?.map(({ link }) => link);
    const names = filters?.map(({ shared }) => shared.name);
    const asked = [...this.#filters].filter(([link]) => links?.includes(link) ?? true);
    return {
      digests: new Map(asked.map(([link, filter]) => [link, this.#loose.has(link) ? '' : filterDigest(filter)])),
      shared: new Map([...this.#shared].filter(([name]) => names?.includes(name) ?? true)),
      lockedMacs: new Set(this.#lockedMacs),
    };
  }

  put(filter: FrameFilter, withShared: boolean): void {
    const { link, shared, receiver } = filter;
    if (withShared || !this.#shared.has(shared.name)) this.#shared.set(shared.name, true);
    this.#filters.set(link, filter);
    this.#loose.delete(link);
    if (receiver.isLocked === true) this.#lockedMacs.add(receiver.mac);
    else if (receiver.isLocked === false) this.#lockedMacs.delete(receiver.mac);
  }

  /** @throws NetlinkError */
  delete(link: string): void {
    if (!this.#filters.delete(link)) throw kernelError(`delete frame filter of ${link}`, ENOENT);
  }

  /** @throws NetlinkError */
  unshare(name: string): void {
    const isNeeded = this.#filters.values().some(({ shared }) => shared.name === name);
    if (isNeeded) throw kernelError(`delete ${name} of frame filters`, EBUSY);
    if (!this.#shared.delete(name)) throw kernelError(`delete ${name} of frame filters`, ENOENT);
  }

  /** @throws NetlinkError */
  unlock(mac: Mac): void {
    if (!this.#lockedMacs.delete(mac)) throw kernelError(`delete locked pod ${mac}`, ENOENT);
  }

  lock(mac: Mac): void {
    this.#lockedMacs.add(mac);
  }

  loosen(link: string): void {
    this.#loose.add(link);
  }

  clear(): void {
    this.#filters.clear();
    this.#shared.clear();
    this.#lockedMacs.clear();
  }

  linkGone(link: string): void {
    this.#filters.delete(link);
  }

  /** Another program flushes the rules of shared chains. */
  loseShared(): void {
    for (const name of this.#shared.keys()) this.#shared.set(name, false);
  }
}
