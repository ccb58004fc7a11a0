/**
 * What a reconciler does with the backend, without its clock: looks at the keys of events, and at all when a test says so.
 */
import { parseCidr } from '../../net/cidr.ts';
import type { OutsideChange, ReconcileOutcome } from '../backend.ts';
import type { Netlink } from '../netlink/netlink.ts';
import { HostBackend } from './backend.ts';
import type { HostOwnership } from './ownership.ts';
import { type HostItem, hostItemKey } from './types.ts';

export const OWNERSHIP: HostOwnership = {
  vrfTables: { first: 100_001, last: 104_095 },
  otherTables: [254, 7],
  rulePriorities: [30, 2000],
  neighbourSubnets: [parseCidr('169.254.0.0/17')],
};

export class HostKeeper {
  readonly netlink: Netlink;
  readonly backend: HostBackend;
  readonly desired = new Map<string, HostItem>();
  /** All reported changes. */
  readonly reported: OutsideChange[] = [];
  /** What was last said to wait or to fail, and why. */
  readonly problems = new Map<string, string>();
  #dirty = new Set<string>();
  #all = true;
  #failed: ReadonlySet<string> = new Set();

  constructor(netlink: Netlink) {
    this.netlink = netlink;
    this.backend = new HostBackend({ netlink, ownership: OWNERSHIP });
    this.backend.listen((change) => {
      this.reported.push(change);
      if (change.keys === 'all') this.#all = true;
      else this.#dirty = this.#dirty.union(change.keys);
    });
  }

  want(...items: readonly HostItem[]): this {
    for (const item of items) {
      this.desired.set(hostItemKey(item), item);
      this.#dirty.add(hostItemKey(item));
    }
    return this;
  }

  unwant(...items: readonly HostItem[]): this {
    for (const item of items) {
      this.desired.delete(hostItemKey(item));
      this.#dirty.add(hostItemKey(item));
    }
    return this;
  }

  /** Looks at what changed until nothing does. @returns how much was written */
  async settle(): Promise<number> {
    let written = 0;
    for (let i = 0; (this.#all || this.#dirty.size > 0) && i < 20; i++) written += (await this.#once()).written;
    return written;
  }

  /** Looks again at what has failed, as a reconciler does after a while. */
  retry(): Promise<number> {
    this.#dirty = this.#dirty.union(this.#failed);
    return this.settle();
  }

  /** As the slow timer does. */
  full(prune = true): Promise<ReconcileOutcome> {
    this.#all = true;
    return this.#once(prune);
  }

  drift(): string[] {
    return this.reported.flatMap(({ cause, keys }) => (cause === 'drift' && keys !== 'all' ? [...keys] : []));
  }

  async differences(): Promise<string[]> {
    return (await this.backend.difference(this.desired)).map(({ kind, key }) => `${kind} ${key}`);
  }

  async #once(prune = true): Promise<ReconcileOutcome> {
    const keys: ReadonlySet<string> | 'all' = this.#all ? 'all' : this.#dirty;
    this.#all = false;
    this.#dirty = new Set();
    const request = { desired: this.desired, keys, prune };
    const outcome = await this.backend.reconcile(request, AbortSignal.timeout(60_000));
    for (const key of keys === 'all' ? [...this.problems.keys()] : keys) this.problems.delete(key);
    for (const [key, why] of [...outcome.waiting, ...outcome.failed]) this.problems.set(key, why);
    const before = keys === 'all' ? new Set<string>() : this.#failed.difference(keys);
    this.#failed = before.union(new Set(outcome.failed.keys()));
    return outcome;
  }
}
