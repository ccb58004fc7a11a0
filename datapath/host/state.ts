/** What the backend knows: what is there, the desired state, what has been brought about; and what events mean for it. */
import type { OutsideChange } from '../backend.ts';
import type { NetlinkEvent } from '../netlink/monitor/events.ts';
import { type Route, routeKey } from '../netlink/route/types.ts';
import { assess, isRight, type Situation } from './assessment.ts';
import { DesiredIndex } from './desired-index.ts';
import { Mirror } from './mirror.ts';
import type { HostOwnership } from './ownership.ts';
import { removalStep } from './removal.ts';
import type { HostItem } from './types.ts';

export class HostState implements Situation {
  readonly mirror = new Mirror();
  readonly index: DesiredIndex;
  readonly ownership: HostOwnership;
  /** Keys of what was brought about, until it is removed. */
  readonly remembered = new Set<string>();
  /** Keys that were right when they were looked at last. */
  readonly #settled = new Set<string>();
  /** What each key waited for when it was looked at last. A listener that was given the key waits for news of it. */
  readonly #waits = new Map<string, string>();
  readonly #touched = new Set<string>();

  constructor(ownership: HostOwnership) {
    this.ownership = ownership;
    this.index = new DesiredIndex(ownership);
  }

  absorb(event: Exclude<NetlinkEvent, { kind: 'lost' }>): void {
    const { key, links, reachableBy, mayBeGone = [] } = this.mirror.apply(event);
    if (key !== undefined) this.#touched.add(key);
    for (const lost of mayBeGone) this.#touched.add(lost);
    for (const { name, vrfTable } of links) {
      this.#touch(this.index.ofLink(name));
      if (vrfTable !== undefined) this.#touch(this.index.ofTable(vrfTable));
    }
    if (reachableBy === undefined) return;
    for (const dependent of this.index.ofLink(reachableBy)) {
      if (!this.#settled.has(dependent)) this.#touched.add(dependent);
    }
  }

  /** Takes the routes of stale tables, read again. */
  loadTables(tables: ReadonlySet<number>, routes: readonly Route[]): void {
    this.#touch(this.mirror.loadTables(tables, routes));
  }

  /**
   * The kernel took a route and reported nothing of it: it had the same one already, which the mirror lacks. A dump of IPv4 routes takes
   * no lock against changes (`inet_dump_fib` in net/ipv4/fib_frontend.c), and may have missed it.
   */
  doubtRoute(route: Route): void {
    const key = `route ${routeKey(route)}`;
    if (this.mirror.routes.has(key)) return;
    this.mirror.staleTables.add(route.table);
    this.#touched.add(key);
  }

  /** Somebody has changed filters, or events about them were lost. @param link absent: of all */
  loseFilters(link?: string): void {
    this.#touch(this.mirror.loseFilters(link).map((one) => `filter ${one}`));
  }

  /** Which of what events touched has to be looked at, and why. Forgets them. */
  takeChanges(prune: boolean): OutsideChange[] {
    const [drift, input] = [new Set<string>(), new Set<string>()];
    for (const key of this.#touched) {
      const cause = this.#causeOf(key, prune);
      if (cause === 'drift') drift.add(key);
      else if (cause === 'input') input.add(key);
    }
    this.#touched.clear();
    return [
      ...(drift.size === 0 ? [] : [{ cause: 'drift', keys: drift } as const]),
      ...(input.size === 0 ? [] : [{ cause: 'input', keys: input } as const]),
    ];
  }

  /** The desired state was brought about; or it failed, or waits. */
  settle(key: string, isDone: boolean, waiting: string | undefined): void {
    if (waiting === undefined) this.#waits.delete(key);
    else this.#waits.set(key, waiting);
    if (isDone) {
      this.#settled.add(key);
      this.remembered.add(key);
      return;
    }
    // An event meanwhile stays news, for it may have come after the attempt: what made it impossible may be gone.
    this.#settled.delete(key);
  }

  forget(key: string): void {
    this.#settled.delete(key);
    this.#waits.delete(key);
    this.remembered.delete(key);
  }

  #touch(keys: Iterable<string>): void {
    for (const key of keys) this.#touched.add(key);
  }

  #causeOf(key: string, prune: boolean): OutsideChange['cause'] | undefined {
    const item = this.index.desired.get(key);
    if (item === undefined) return prune && removalStep(key, this).length > 0 ? 'drift' : undefined;
    if (this.#isUnknown(item)) return 'input';
    const assessment = assess(item, this);
    const canBeDone = assessment.ops.length > 0;
    if (!this.#settled.has(key)) {
      const isNews = canBeDone || isRight(assessment) || assessment.waiting !== this.#waits.get(key);
      return isNews ? 'input' : undefined;
    }
    if (isRight(assessment)) return undefined;
    this.#settled.delete(key);
    return canBeDone ? 'drift' : 'input';
  }

  /** Has to be read before anything can be said. */
  #isUnknown(item: HostItem): boolean {
    if (item.kind === 'sysctl') return this.mirror.sysctl(item.sysctl.key) === undefined;
    if (item.kind === 'filter') return this.mirror.filter(item.filter.link) === undefined;
    return item.kind === 'route' && this.mirror.staleTables.has(item.route.table);
  }
}
