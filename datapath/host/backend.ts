/**
 * The host's network stack, kept as desired. The backend reads it once and then follows the kernel's events, so that a
 * change costs what it touches; a full reading, now and then, finds changes without an event, for example of settings.
 */
import type { Difference } from '../../base/reconciler.ts';
import type { Backend, OutsideChange, ReconcileOutcome, ReconcileRequest } from '../backend.ts';
import { filterDigest } from '../netlink/frame-filter/types.ts';
import type { KernelOp, OpFailure } from '../netlink/kernel/types.ts';
import type { NetlinkEvent } from '../netlink/monitor/events.ts';
import type { Netlink } from '../netlink/netlink.ts';
import { OUR_PROTOCOL } from '../netlink/route/types.ts';
import { findDifferences } from './difference.ts';
import { EVERYTHING } from './mirror.ts';
import type { HostOwnership } from './ownership.ts';
import { planHost, type Step } from './plan.ts';
import { digestsOf, frameFilterOf } from './port-filter.ts';
import { ownedKeys } from './removal.ts';
import { type Moment, ReportedSince } from './reported-since.ts';
import { HostState } from './state.ts';
import type { HostItem } from './types.ts';

export interface HostBackendOptions {
  readonly netlink: Pick<Netlink, 'read' | 'apply' | 'watch'>;
  readonly ownership: HostOwnership;
}

/** Each may need something of the one before: a VRF, a port in it, what is on the port. One more is to be sure. */
const MAX_ROUNDS = 4;
/** Between two batches the worker does what others want of it: a pod must not wait for ten thousand routes. */
const BATCH = 512;

const NO_VRF = 'this kernel has no VRF (CONFIG_NET_VRF)';
const NO_ORIGIN = 'this kernel cannot match the route of frames (CONFIG_IP_ROUTE_CLASSID, CONFIG_NETFILTER_EGRESS)';

export class HostBackend implements Backend<HostItem> {
  readonly #netlink: HostBackendOptions['netlink'];
  readonly #state: HostState;
  readonly #reported = new ReportedSince();
  readonly #listeners = new Set<(change: OutsideChange) => void>();
  readonly #unwatch: () => void;
  /** False when events were lost, so that the mirror is worth nothing. */
  #loaded = false;
  #prune = false;
  #lacksVrf = false;
  #busy = false;

  constructor({ netlink, ownership }: HostBackendOptions) {
    this.#netlink = netlink;
    this.#state = new HostState(ownership);
    this.#unwatch = netlink.watch((events) => this.#onEvents(events));
  }

  async reconcile(request: ReconcileRequest<HostItem>, signal: AbortSignal): Promise<ReconcileOutcome> {
    this.#busy = true;
    this.#prune = request.prune;
    try {
      this.#state.index.update(request.desired, request.keys);
      const isReloaded = request.keys !== 'all' && !this.#loaded;
      if (request.keys === 'all' || isReloaded) await this.#load(signal);
      const outcome = await this.#reconcile(request, signal);
      // More may have changed than events name.
      if (isReloaded) this.#emit({ cause: 'input', keys: 'all' });
      return outcome;
    } catch (error) {
      this.#loaded = false;
      throw error;
    } finally {
      this.#busy = false;
      this.#notify();
    }
  }

  /** What is not as desired now, read again; nothing is changed. */
  difference(desired: ReadonlyMap<string, HostItem>, signal?: AbortSignal): Promise<Difference[]> {
    const { ownership, remembered } = this.#state;
    return findDifferences({ netlink: this.#netlink, ownership, desired, remembered }, signal);
  }

  listen(listener: (change: OutsideChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Filters are no matter of the events that it listens to: somebody says which may have changed. @param link absent: all */
  loseFilters(link?: string): void {
    this.#state.loseFilters(link);
    if (!this.#busy) this.#notify();
  }

  close(): Promise<void> {
    this.#unwatch();
    this.#listeners.clear();
    return Promise.resolve();
  }

  async #load(signal: AbortSignal): Promise<void> {
    this.#loaded = true;
    this.#state.mirror.load(await this.#netlink.read(EVERYTHING, signal));
  }

  async #reconcile(
    { desired, keys, prune }: ReconcileRequest<HostItem>,
    signal: AbortSignal,
  ): Promise<ReconcileOutcome> {
    const all = keys === 'all' ? ownedKeys(this.#state).union(new Set(desired.keys())) : keys;
    const failed = new Map<string, string>();
    let waiting: ReadonlyMap<string, string> = new Map();
    /** What is no longer desired by the end has been brought about all the same, and is to be removed. */
    const planned = new Map<string, boolean>();
    let written = 0;
    const writtenKeys = new Set<string>();
    let todo: ReadonlySet<string> = all;
    for (let round = 0; round < MAX_ROUNDS && todo.size > 0; round++) {
      await this.#reread(todo, signal);
      const { mirror, index, ownership, remembered } = this.#state;
      const plan = planHost({ mirror, index, ownership, remembered, keys: todo, prune });
      for (const key of todo) planned.set(key, index.desired.has(key));
      const refused = await this.#apply(plan.steps, signal);
      const done = plan.steps.filter(({ key }) => !refused.has(key));
      written += done.length;
      for (const { key } of done) writtenKeys.add(key);
      waiting = new Map([...waiting, ...plan.waiting]);
      for (const [key, why] of [...plan.failed, ...refused]) failed.set(key, why);
      todo = plan.later;
    }
    for (const key of todo) failed.set(key, 'the state that it depends on did not settle');
    this.#settle(planned, failed, waiting);
    return { ...this.#outcome(written, failed, waiting), writtenKeys };
  }

  /** Where there is no VRF, what needs one cannot be, nor a filter that the kernel does not know: not to be tried again and again. */
  #outcome(
    written: number,
    failed: ReadonlyMap<string, string>,
    waiting: ReadonlyMap<string, string>,
  ): ReconcileOutcome {
    const reasons = [...failed.values()];
    if (reasons.includes(NO_VRF)) this.#lacksVrf = true;
    const isUnsupported = ([, why]: readonly [string, string]): boolean =>
      why === NO_ORIGIN || (this.#lacksVrf && /\bVRF\b/.test(why));
    const left = new Map([...waiting].filter(([key]) => !failed.has(key)));
    const unsupported = new Map(
      [...failed, ...left].filter(isUnsupported).map(([key, why]) => [key, why === NO_ORIGIN ? why : NO_VRF]),
    );
    const others = (map: ReadonlyMap<string, string>) => new Map([...map].filter(([key]) => !unsupported.has(key)));
    const outcome = { written, failed: others(failed), waiting: others(left) };
    return unsupported.size === 0 ? outcome : { ...outcome, unsupported };
  }

  /** @param planned keys, and whether each was desired when it was planned last */
  #settle(
    planned: ReadonlyMap<string, boolean>,
    failed: ReadonlyMap<string, string>,
    waiting: ReadonlyMap<string, string>,
  ): void {
    for (const [key, wasDesired] of planned) {
      const isDone = !failed.has(key) && !waiting.has(key);
      if (wasDesired) this.#state.settle(key, isDone, waiting.get(key));
      else if (isDone && this.#prune) this.#state.forget(key);
    }
  }

  /** State without events: routes that may be gone, settings, filters. */
  async #reread(keys: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { mirror, index } = this.#state;
    const tables = new Set(mirror.staleTables);
    const items = [...keys].flatMap((key) => index.desired.get(key) ?? []);
    const sysctls = items.flatMap((item) => (item.kind === 'sysctl' ? [item.sysctl.key] : []));
    const filters = items.flatMap((item) => (item.kind === 'filter' ? [frameFilterOf(item.filter)] : []));
    if (tables.size === 0 && sysctls.length === 0 && filters.length === 0) return;
    const routes = ([4, 6] as const).flatMap((family) =>
      [...tables].map((table) => ({ family, table, protocol: OUR_PROTOCOL })),
    );
    const read = await this.#netlink.read({ routes, sysctls, filters }, signal);
    this.#state.loadTables(tables, read.routes);
    mirror.loadSysctls(sysctls, read.sysctls);
    mirror.loadFilters(
      filters.map(({ link }) => link),
      digestsOf(filters, read.filters),
    );
    mirror.loadShared(read.filters.shared);
  }

  /** @returns keys of what the kernel refused, each with the first reason */
  async #apply(steps: readonly Step[], signal: AbortSignal): Promise<Map<string, string>> {
    const keyOf = new Map(steps.flatMap(({ key, ops }) => ops.map((op) => [op, key] as const)));
    const ops = [...keyOf.keys()];
    const refused = new Map<string, string>();
    /** One more is under way while the answer to the last one is worked on: neither thread waits for the other. */
    this.#reported.forget();
    let next = this.#send(ops.slice(0, BATCH), signal);
    for (let start = 0; start < ops.length; start += BATCH) {
      const batch = ops.slice(start, start + BATCH);
      const { answer, sent } = next;
      next = this.#send(ops.slice(start + BATCH, start + 2 * BATCH), signal);
      const failures = await answer;
      for (const failure of failures) {
        const key = keyOf.get(failure.op) ?? '';
        if (!refused.has(key)) refused.set(key, messageOf(failure));
      }
      const failedOps = new Set(failures.map(({ op }) => op));
      for (const op of batch) if (!failedOps.has(op) && !this.#reported.has(sent, op)) this.#assume(op);
    }
    return refused;
  }

  #send(ops: readonly KernelOp[], signal: AbortSignal): Sent {
    const sent = this.#reported.now();
    if (ops.length === 0) return { sent, answer: Promise.resolve([]) };
    const answer = this.#netlink.apply({ ops }, signal);
    // It may fail while the one before is waited for.
    answer.catch(() => {});
    return { sent, answer };
  }

  /** The kernel reports an IPv6 address only some time after it took it, and settings never. */
  #assume(op: KernelOp): void {
    const { mirror } = this.#state;
    if (op.op === 'address.put') {
      const { detectDuplicates: _, ...address } = op.address;
      mirror.putAddress({ ...address, scope: 'global', state: 'valid' });
    } else if (op.op === 'neighbour.put') {
      // Else an address that no owner desires before its event comes is not seen, and stays.
      mirror.putNeighbour({ ...op.neighbour, permanent: true });
    } else if (op.op === 'route.put') {
      this.#state.doubtRoute(op.route);
    } else if (op.op === 'sysctl.set') {
      mirror.loadSysctls([op.key], new Map([[op.key, op.value]]));
    } else if (op.op === 'filter.put') {
      mirror.loadFilters([op.filter.link], new Map([[op.filter.link, filterDigest(op.filter)]]));
      mirror.loadShared(new Map([[op.filter.shared.name, true]]));
    }
  }

  #onEvents(events: readonly NetlinkEvent[]): void {
    for (const event of events) {
      this.#reported.note(event);
      if (event.kind === 'lost') this.#loaded = false;
      else this.#state.absorb(event);
    }
    if (events.some(({ kind }) => kind === 'lost')) this.#emit({ cause: 'input', keys: 'all' });
    if (!this.#busy) this.#notify();
  }

  /** What we do ourselves is no news: it is looked at when it has been done. */
  #notify(): void {
    for (const change of this.#state.takeChanges(this.#prune)) this.#emit(change);
  }

  #emit(change: OutsideChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

interface Sent {
  readonly sent: Moment;
  readonly answer: Promise<readonly OpFailure[]>;
}

const messageOf = ({ op, error }: OpFailure): string => {
  if (error.code !== 'ENOTSUP') return error.message;
  if (op.op === 'filter.put') return NO_ORIGIN;
  return op.op === 'master.add' && op.master.kind === 'vrf' ? NO_VRF : error.message;
};
