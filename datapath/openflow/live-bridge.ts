/** A bridge as it is: read once, then kept by its flow monitor and our own writes. */
import { BridgeWatch } from './bridge-watch.ts';
import { EarlyBundle } from './early-bundle.ts';
import { OpenflowError } from './errors.ts';
import { applyGroupOp, emptyBridge, type MutableBridge, readBridge } from './mirror.ts';
import { OwnWrites } from './own-writes.ts';
import { isSameFlow } from './plan.ts';
import type { BundleOp, NoFloodResult, SwitchClient } from './switch-client.ts';
import { type FlowState, keptActions } from './text/flow.ts';
import type { MonitorEvent } from './text/flow-monitor.ts';

export interface LiveBridgeOptions {
  readonly client: SwitchClient;
  readonly bridge: string;
  /** Somebody else has changed these flows. */
  readonly onForeign: (identities: ReadonlySet<string>) => void;
  /** Everything has to be looked at: the bridge is back. */
  readonly onStale: () => void;
}

export class LiveBridge {
  readonly #options: LiveBridgeOptions;
  readonly #watch: BridgeWatch;
  readonly #own = new OwnWrites();
  #state: MutableBridge | undefined;
  /** Events that arrive while everything is read: they may be newer than what was read. */
  #meanwhile: MonitorEvent[] | undefined;

  constructor(options: LiveBridgeOptions) {
    this.#options = options;
    this.#watch = new BridgeWatch({
      client: options.client,
      bridge: options.bridge,
      onEvents: (events) => this.#onEvents(events),
      onReady: (isAgain) => {
        if (isAgain) options.onStale();
      },
      onLost: () => this.#lose(),
    });
  }

  /** Undefined until it was read, and when what was read no longer holds. */
  get state(): MutableBridge | undefined {
    return this.#state;
  }

  /** Its changes are reported; when it is back after it was not, `onStale` says so. */
  get isWatched(): boolean {
    return this.#watch.isReady;
  }

  /** @throws OpenflowError ERR_OPENFLOW_UNREACHABLE */
  async load(signal: AbortSignal): Promise<MutableBridge> {
    const { client, bridge } = this.#options;
    if (!(await this.#watch.settled(signal))) throw unreachable(bridge, this.#watch.error);
    this.#meanwhile = [];
    this.#own.onRead();
    try {
      const state = await readBridge(client, bridge, signal);
      this.#state = state;
      return state;
    } finally {
      const missed = this.#meanwhile ?? [];
      this.#meanwhile = undefined;
      this.#onEvents(missed);
    }
  }

  /** What is known of groups or ports is no longer to be trusted. */
  distrust(): void {
    this.#state = undefined;
  }

  /** It went, or came: one that comes is flooded to. */
  forgetPort(number: number): void {
    this.#state?.noFlood.delete(number);
  }

  draft(signal: AbortSignal): EarlyBundle {
    return new EarlyBundle(this.#options.client.draft(this.#options.bridge, signal));
  }

  /** @throws OpenflowError ERR_OPENFLOW_REFUSED or ERR_OPENFLOW_INVALID if nothing was changed; ERR_OPENFLOW_UNREACHABLE */
  async write(ops: readonly BundleOp[], signal: AbortSignal, early?: EarlyBundle): Promise<void> {
    this.#own.expect(ops);
    try {
      if (early?.isBeginningOf(ops)) await early.commit(ops);
      else await this.#options.client.bundle(this.#options.bridge, ops, signal);
    } catch (error) {
      this.#own.forget(ops);
      // It may have been done or not.
      if (!isRefusal(error)) this.distrust();
      throw error;
    }
    for (const op of ops) this.#remember(op);
  }

  /** @throws OpenflowError ERR_OPENFLOW_UNREACHABLE */
  async setNoFlood(changes: ReadonlyMap<number, boolean>, signal: AbortSignal): Promise<NoFloodResult> {
    const result = await this.#options.client.setNoFlood(this.#options.bridge, changes, signal);
    for (const [port, noFlood] of changes) {
      if (result.refused.has(port)) continue;
      if (noFlood && !result.gone.has(port)) this.#state?.noFlood.add(port);
      else this.#state?.noFlood.delete(port);
    }
    return result;
  }

  retryNow(): void {
    this.#watch.retryNow();
  }

  stop(): Promise<void> {
    return this.#watch.stop();
  }

  /** A flow whose event came already may have been changed by somebody since. */
  #remember(op: BundleOp): void {
    const state = this.#state ?? emptyBridge();
    if (op.op === 'addFlow') {
      const { identity, cookie, actions } = op.flow;
      if (this.#own.isExpecting(identity)) state.flows.set(identity, { cookie, actions });
    } else if (op.op === 'deleteFlow') {
      if (this.#own.isExpecting(op.identity)) state.flows.delete(op.identity);
    } else applyGroupOp(state, op);
  }

  #onEvents(events: readonly MonitorEvent[]): void {
    if (this.#meanwhile !== undefined) {
      for (const event of events) this.#meanwhile.push(event);
      return;
    }
    const foreign = new Set<string>();
    for (const event of events) {
      // Not every write of ours will be reported.
      if (event.kind === 'resumed') this.#own.clear();
      else if (event.kind !== 'ready' && this.#onFlow(event)) foreign.add(event.flow.identity);
    }
    if (foreign.size > 0) this.#options.onForeign(foreign);
  }

  /** True if somebody else has changed it. */
  #onFlow({ kind, flow }: Extract<MonitorEvent, { readonly flow: unknown }>): boolean {
    const { identity, cookie, actions } = flow;
    const after: FlowState | undefined = kind === 'deleted' ? undefined : { cookie, actions };
    const by = this.#own.classify(identity, after);
    const flows = this.#state?.flows;
    if (flows === undefined || by === 'before') return false;
    const isNews = !isSameFlow(flows.get(identity), after);
    if (after === undefined) flows.delete(identity);
    else if (isNews) flows.set(identity, { cookie, actions: keptActions(actions) });
    // No event reports groups, but their flows go with them.
    if (by === 'foreign' && after === undefined && actions.includes('group:')) this.distrust();
    return by === 'foreign' && isNews;
  }

  #lose(): void {
    this.#state = undefined;
    this.#own.clear();
  }
}

/** By the bridge, or because it cannot be encoded. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof OpenflowError && ['ERR_OPENFLOW_REFUSED', 'ERR_OPENFLOW_INVALID'].includes(error.code);

export const isUnreachable = (error: unknown): boolean =>
  error instanceof OpenflowError && error.code === 'ERR_OPENFLOW_UNREACHABLE';

const unreachable = (bridge: string, cause: unknown): OpenflowError => {
  if (cause instanceof OpenflowError) return cause;
  return new OpenflowError('ERR_OPENFLOW_UNREACHABLE', `bridge ${bridge} does not answer`, { cause });
};
