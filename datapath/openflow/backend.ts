/** The bridges of ovs-vswitchd as a `Backend`: it programs their desired state by difference. */
import { setImmediate as immediate } from 'node:timers/promises';
import type { Difference } from '../../base/reconciler.ts';
import type { Backend, OutsideChange, ReconcileOutcome, ReconcileRequest } from '../backend.ts';
import { bridgeDifferences } from './difference.ts';
import type { EarlyBundle } from './early-bundle.ts';
import { isUnreachable, LiveBridge } from './live-bridge.ts';
import type { MutableBridge } from './mirror.ts';
import { type Ownership, ownership } from './ownership.ts';
import { type DesiredBridge, isSameFlow, plan, planFlows } from './plan.ts';
import type { PortNumbers } from './port-numbers.ts';
import { Removals } from './removals.ts';
import type { SwitchClient } from './switch-client.ts';
import type { BridgeItem } from './types.ts';
import { Touched, touchedOf, Wants } from './wants.ts';
import { type WriteResult, writePlan } from './write.ts';

export interface OpenflowBackendOptions {
  readonly client: SwitchClient;
  readonly ports: PortNumbers;
  /** Flows with one of these are ours: removed when no owner desires them. */
  readonly cookies: readonly bigint[];
  /** Groups with such an id are ours. Default: none, so that a group goes only if it was desired since the start. */
  readonly isOurGroup?: ((group: number) => boolean) | undefined;
  /** Reports that a bridge may answer again. Without it, bridges that do not answer are retried with backoff. */
  readonly sockets?: { listen(listener: (bridge: string) => void): () => void } | undefined;
}

export class OpenflowBackend implements Backend<BridgeItem> {
  readonly #options: OpenflowBackendOptions;
  readonly #ownership: Ownership;
  readonly #wants: Wants;
  readonly #live = new Map<string, LiveBridge>();
  readonly #listeners = new Set<(change: OutsideChange) => void>();
  readonly #unlisten: () => void;
  /** Keys whose ports have other numbers since they were looked at. */
  readonly #renumbered = new Set<string>();
  /** Flows of ours that no owner desires, by the key under which they were reported. */
  readonly #strays = new Map<string, { readonly bridge: string; readonly identity: string }>();

  readonly #removals = new Removals();

  constructor(options: OpenflowBackendOptions) {
    this.#options = options;
    this.#ownership = ownership(options.cookies, options.isOurGroup);
    this.#wants = new Wants(options.ports);
    const unlisten = [
      options.ports.listen((ports) => this.#onPorts(ports)),
      options.sockets?.listen((bridge) => this.#live.get(bridge)?.retryNow()),
    ];
    this.#unlisten = () => {
      for (const end of unlisten) end?.();
    };
  }

  async reconcile(request: ReconcileRequest<BridgeItem>, signal: AbortSignal): Promise<ReconcileOutcome> {
    const early = new Map<string, EarlyBundle>();
    try {
      const touched = isLarge(request) ? await this.#takeInPieces(request, early, signal) : this.#take(request);
      return await this.#reconcileTouched(request, touched, early, signal);
    } finally {
      // After its end that does nothing.
      for (const bundle of early.values()) bundle.drop();
    }
  }

  async #reconcileTouched(
    request: ReconcileRequest<BridgeItem>,
    touched: ReadonlyMap<string, Touched>,
    early: ReadonlyMap<string, EarlyBundle>,
    signal: AbortSignal,
  ): Promise<ReconcileOutcome> {
    const bridges = request.keys === 'all' ? new Set([...this.#wants.bridges, ...this.#live.keys()]) : touched.keys();
    const failed = new Map<string, string>();
    const waiting = new Map<string, string>();
    let written = 0;
    let writtenKeys: ReadonlySet<string> | undefined = new Set();
    const results = await Promise.allSettled(
      // A bridge that does not answer must not keep the others waiting.
      [...bridges].map((bridge) => {
        const changed = { touched: touched.get(bridge), early: early.get(bridge) };
        return this.#reconcileBridge(bridge, changed, request, signal);
      }),
    );
    for (const result of results) {
      if (result.status === 'rejected') throw result.reason;
      written += result.value.written;
      writtenKeys = result.value.writtenKeys && writtenKeys?.union(result.value.writtenKeys);
      for (const [key, reason] of result.value.failed) failed.set(key, reason);
      for (const [key, reason] of result.value.waiting) waiting.set(key, reason);
    }
    for (const key of request.keys === 'all' ? this.#wants.problems.keys() : request.keys) {
      const problem = this.#wants.problems.get(key);
      if (problem !== undefined) (problem.kind === 'failed' ? failed : waiting).set(key, problem.reason);
    }
    return { written, ...(writtenKeys !== undefined && { writtenKeys }), failed, waiting };
  }

  listen(listener: (change: OutsideChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What is not as desired, read again. Changes nothing. */
  difference(desired: ReadonlyMap<string, BridgeItem>, signal: AbortSignal): Promise<Difference[]> {
    return bridgeDifferences(this.#options, desired, signal);
  }

  async close(): Promise<void> {
    this.#unlisten();
    this.#listeners.clear();
    await Promise.all([...this.#live.values()].map((live) => live.stop()));
    this.#live.clear();
  }

  /** Takes over the desired state under the keys of the request. */
  #take({ desired, keys }: ReconcileRequest<BridgeItem>): Map<string, Touched> {
    const touched = new Map<string, Touched>();
    if (keys === 'all') {
      for (const key of [...this.#wants.keys]) {
        if (desired.has(key)) continue;
        this.#noteRemoval(key);
        this.#wants.set(key, undefined, touched);
      }
    }
    for (const key of keys === 'all' ? desired.keys() : keys) {
      const stray = this.#strays.get(key);
      if (stray !== undefined) addStray(touched, stray);
      this.#strays.delete(key);
      const item = desired.get(key);
      // By itself it is looked at even if nothing about it is new: somebody may have changed it.
      const isNews = keys !== 'all' || item !== this.#wants.itemOf(key) || this.#renumbered.has(key);
      if (item === undefined) this.#noteRemoval(key);
      else this.#removals.delete(key);
      if (isNews) this.#wants.set(key, item, touched);
      // Also when nothing is new of it: a bridge that has not confirmed it is read again.
      const unconfirmed = this.#removals.bridgeOf(key);
      if (unconfirmed !== undefined) touchedOf(touched, unconfirmed);
      this.#renumbered.delete(key);
    }
    return touched;
  }

  #noteRemoval(key: string): void {
    const item = this.#wants.itemOf(key);
    if (item !== undefined) this.#removals.add(key, item.bridge);
  }

  /** While later keys are taken over, the bridges' bundles begin with the flows of the earlier ones. */
  async #takeInPieces(
    { desired, keys, prune }: ReconcileRequest<BridgeItem>,
    early: Map<string, EarlyBundle>,
    signal: AbortSignal,
  ): Promise<Map<string, Touched>> {
    const touched = new Map<string, Touched>();
    for (const piece of pieces(keys)) {
      for (const [bridge, part] of this.#take({ desired, keys: piece, prune })) {
        const known = touched.get(bridge);
        if (known === undefined) touched.set(bridge, part);
        else known.add(part);
        this.#addEarly(bridge, part, early, signal);
      }
      await immediate();
      signal.throwIfAborted();
    }
    return touched;
  }

  /** Flows that name a group cannot come before it. */
  #addEarly(bridge: string, part: Touched, early: Map<string, EarlyBundle>, signal: AbortSignal): void {
    const live = this.#live.get(bridge);
    if (live?.state === undefined || !live.isWatched) return;
    const { adds } = planFlows(this.#wants.desired(bridge), live.state, part, { ...this.#ownership, prune: false });
    if (adds.length === 0) return;
    const bundle = early.get(bridge) ?? live.draft(signal);
    early.set(bridge, bundle);
    bundle.append(adds);
  }

  async #reconcileBridge(
    bridge: string,
    { touched, early }: { readonly touched: Touched | undefined; readonly early: EarlyBundle | undefined },
    { keys, prune }: ReconcileRequest<BridgeItem>,
    signal: AbortSignal,
  ): Promise<WriteResult> {
    if (!this.#options.ports.hasBridge(bridge)) {
      await this.#forget(bridge);
      this.#removals.confirm(bridge, keys);
      return NOTHING;
    }
    const live = this.#liveOf(bridge);
    try {
      const isRead = keys === 'all' || live.state === undefined;
      const actual = isRead ? await live.load(signal) : (live.state ?? (await live.load(signal)));
      if (isRead) shareStates(this.#wants.desired(bridge), actual);
      const scope = isRead ? 'all' : (touched ?? new Touched());
      const removedGroups = touched?.groups ?? new Set();
      const isOurGroup = (group: number): boolean => removedGroups.has(group) || this.#ownership.isOurGroup(group);
      const steps = plan(this.#wants.desired(bridge), actual, scope, { ...this.#ownership, isOurGroup, prune });
      const result = await writePlan(live, this.#wants, bridge, steps, signal, early);
      this.#removals.confirm(bridge, keys);
      // A refused removal has a key that nobody desires.
      for (const key of result.failed.keys()) if (!this.#wants.itemOf(key)) this.#removals.add(key, bridge);
      if (keys === 'all' && prune && result.failed.size === 0) this.#wants.forgetReleased(bridge);
      if (this.#wants.keysOf(bridge).size === 0 && keys === 'all') await this.#forget(bridge);
      return result;
    } catch (error) {
      if (signal.aborted || !isUnreachable(error)) throw error;
      return this.#unanswered(bridge, live, keys, (error as Error).message);
    }
  }

  /** No event says that a watched bridge is back: its keys have to be tried again, also those that are to go. */
  #unanswered(bridge: string, live: LiveBridge, keys: ReadonlySet<string> | 'all', reason: string) {
    const desired = [...this.#wants.keysOf(bridge)].filter((key) => keys === 'all' || keys.has(key));
    const concerned = [...desired, ...this.#removals.of(bridge, keys)];
    const problems = new Map(concerned.map((key) => [key, reason]));
    return live.isWatched ? { ...NOTHING, failed: problems } : { ...NOTHING, waiting: problems };
  }

  #liveOf(bridge: string): LiveBridge {
    const known = this.#live.get(bridge);
    if (known !== undefined) return known;
    const live = new LiveBridge({
      client: this.#options.client,
      bridge,
      onForeign: (identities) => this.#onForeign(bridge, identities),
      onStale: () => this.#emit({ cause: 'input', keys: 'all' }),
    });
    this.#live.set(bridge, live);
    return live;
  }

  async #forget(bridge: string): Promise<void> {
    const live = this.#live.get(bridge);
    this.#live.delete(bridge);
    await live?.stop();
  }

  #onForeign(bridge: string, identities: ReadonlySet<string>): void {
    const { flows } = this.#wants.desired(bridge);
    const actual = this.#live.get(bridge)?.state?.flows;
    const keys = new Set<string>();
    for (const identity of identities) {
      const key = this.#wants.keyOfFlow(bridge, identity);
      const there = actual?.get(identity);
      if (key !== undefined) {
        if (there === undefined || !isSameFlow(flows.get(identity), there)) keys.add(key);
      } else if (there !== undefined && this.#ownership.isOurs(there.cookie)) {
        const stray = `stray flow ${bridge} ${identity}`;
        this.#strays.set(stray, { bridge, identity });
        keys.add(stray);
      }
    }
    if (keys.size > 0) this.#emit({ cause: 'drift', keys });
  }

  #onPorts(ports: ReadonlySet<string>): void {
    const keys = new Set<string>();
    for (const bridge of this.#wants.bridges) {
      for (const port of ports) {
        const before = this.#wants.forgetPort(bridge, port);
        for (const number of [before, this.#options.ports.ofport(bridge, port)]) {
          if (number !== undefined) this.#live.get(bridge)?.forgetPort(number);
        }
        for (const key of this.#wants.keysOfPort(bridge, port)) keys.add(key);
      }
      if (!ports.has(bridge)) continue;
      this.#live.get(bridge)?.retryNow();
      for (const key of this.#wants.keysOf(bridge)) keys.add(key);
    }
    for (const key of keys) this.#renumbered.add(key);
    if (keys.size > 0) this.#emit({ cause: 'input', keys });
  }

  #emit(change: OutsideChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/** So many keys are taken over at once; of fewer there is nothing to be gained by beginning early. */
const PIECE = 500;

const isLarge = ({ keys }: ReconcileRequest<BridgeItem>): boolean => keys !== 'all' && keys.size > 2 * PIECE;

function* pieces(keys: ReconcileRequest<BridgeItem>['keys']): Generator<ReadonlySet<string>> {
  let piece = new Set<string>();
  for (const key of keys) {
    piece.add(key);
    if (piece.size < PIECE) continue;
    yield piece;
    piece = new Set();
  }
  if (piece.size > 0) yield piece;
}

const NOTHING: WriteResult = { written: 0, writtenKeys: new Set(), failed: new Map(), waiting: new Map() };

/** What is as desired need not be kept twice. */
const shareStates = ({ flows }: DesiredBridge, actual: MutableBridge): void => {
  for (const [identity, desired] of flows) {
    if (isSameFlow(desired, actual.flows.get(identity))) actual.flows.set(identity, desired);
  }
};

const addStray = (
  touched: Map<string, Touched>,
  { bridge, identity }: { readonly bridge: string; readonly identity: string },
): void => void touchedOf(touched, bridge).flows.add(identity);
