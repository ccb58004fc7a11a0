/**
 * Bridges in memory: they refuse what ovs-vswitchd refuses, flows go with the group that they name, watchers get every
 * change in order, and everything is lost when it is stopped.
 */
import { addAbortListener } from 'node:events';
import { OpenflowError } from './errors.ts';
import { applyOp, emptyBridge, type MutableBridge } from './mirror.ts';
import type { BundleDraft, BundleOp, NoFloodResult, PortState, SwitchClient } from './switch-client.ts';
import type { FlowState } from './text/flow.ts';
import type { MonitorEvent } from './text/flow-monitor.ts';
import type { GroupState } from './text/group-dump.ts';
import { encodeSteps } from './wire/bundle.ts';
import { stepText } from './wire/draft.ts';

interface FakeBridge {
  state: MutableBridge;
  readonly ports: Map<number, string>;
  readonly watchers: Set<Watcher>;
}

export class FakeSwitch implements SwitchClient {
  readonly #bridges = new Map<string, FakeBridge>();
  /** What was sent, by whomever. */
  readonly bundles: (readonly BundleOp[])[] = [];
  #isRunning = true;

  addBridge(bridge: string): void {
    this.#bridges.set(bridge, { state: freshState(), ports: new Map(), watchers: new Set() });
  }

  removeBridge(bridge: string): void {
    for (const watcher of this.#bridges.get(bridge)?.watchers ?? []) watcher.end(unreachable(bridge));
    this.#bridges.delete(bridge);
  }

  addPort(bridge: string, name: string, number: number): void {
    this.#bridges.get(bridge)?.ports.set(number, name);
  }

  removePort(bridge: string, number: number): void {
    this.#bridges.get(bridge)?.ports.delete(number);
    this.#bridges.get(bridge)?.state.noFlood.delete(number);
  }

  stop(): void {
    this.#isRunning = false;
    for (const [name, bridge] of this.#bridges) {
      bridge.state = freshState();
      for (const watcher of bridge.watchers) watcher.end(unreachable(name));
    }
  }

  start(): void {
    this.#isRunning = true;
  }

  flows(bridge: string): Promise<Map<string, FlowState>> {
    return this.#answer(bridge, ({ state }) => new Map(state.flows));
  }

  groups(bridge: string): Promise<Map<number, GroupState>> {
    return this.#answer(bridge, ({ state }) => structuredClone(state.groups));
  }

  ports(bridge: string): Promise<PortState[]> {
    return this.#answer(bridge, ({ ports, state }) =>
      [...ports].map(([number, name]) => ({ number, name: name.slice(0, 15), noFlood: state.noFlood.has(number) })),
    );
  }

  bundle(bridge: string, ops: readonly BundleOp[]): Promise<void> {
    return this.#answer(bridge, ({ state, watchers }) => {
      encodeSteps(ops);
      this.bundles.push(ops);
      const draft = structuredClone(state);
      const events: MonitorEvent[] = [];
      for (const op of ops) {
        const reason = complaint(draft, op);
        if (reason !== undefined) throw refused(bridge, `${reason} for ${stepText(op)}`);
        events.push(...applied(draft, op));
      }
      Object.assign(state, draft);
      if (events.length > 0) for (const watcher of watchers) watcher.push(events);
    });
  }

  draft(bridge: string): BundleDraft {
    const draft: BundleOp[] = [];
    return {
      push: (ops) => void draft.push(...ops),
      commit: () => this.bundle(bridge, draft),
      drop: () => undefined,
    };
  }

  setNoFlood(bridge: string, changes: ReadonlyMap<number, boolean>): Promise<NoFloodResult> {
    return this.#answer(bridge, ({ state, ports }) => {
      const gone = new Set<number>();
      for (const [port, noFlood] of changes) {
        if (!ports.has(port)) gone.add(port);
        else if (noFlood) state.noFlood.add(port);
        else state.noFlood.delete(port);
      }
      return { gone, refused: new Map() };
    });
  }

  async *watch(bridge: string, signal: AbortSignal): AsyncGenerator<readonly MonitorEvent[]> {
    const { watchers } = this.#bridge(bridge);
    const watcher = new Watcher();
    watchers.add(watcher);
    using _ = addAbortListener(signal, () => watcher.end(signal.reason));
    try {
      yield [{ kind: 'ready' }];
      for (;;) yield await watcher.next();
    } finally {
      watchers.delete(watcher);
    }
  }

  /** A promise that rejects with what `answer` throws. */
  #answer<T>(bridge: string, answer: (bridge: FakeBridge) => T): Promise<T> {
    return new Promise((resolve) => resolve(answer(this.#bridge(bridge))));
  }

  #bridge(name: string): FakeBridge {
    const bridge = this.#isRunning ? this.#bridges.get(name) : undefined;
    if (bridge === undefined) throw unreachable(name);
    return bridge;
  }
}

/** Events that were emitted and not taken yet. */
class Watcher {
  readonly #queue: (readonly MonitorEvent[])[] = [];
  #wake: (() => void) | undefined;
  #end: { readonly reason: unknown } | undefined;

  push(events: readonly MonitorEvent[]): void {
    this.#queue.push(events);
    this.#wake?.();
  }

  end(reason: unknown): void {
    this.#end = { reason };
    this.#wake?.();
  }

  async next(): Promise<readonly MonitorEvent[]> {
    for (;;) {
      if (this.#end !== undefined) throw this.#end.reason;
      const events = this.#queue.shift();
      if (events !== undefined) return events;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** As ovs-vswitchd makes a bridge: it forwards like a plain one. */
const freshState = (): MutableBridge => {
  const state = emptyBridge();
  state.flows.set('table=0,priority=0', { cookie: '0', actions: 'NORMAL' });
  return state;
};

const refused = (bridge: string, reason: string): OpenflowError =>
  new OpenflowError('ERR_OPENFLOW_REFUSED', `bridge ${bridge} refused: ${reason}`);

const unreachable = (bridge: string): OpenflowError =>
  new OpenflowError('ERR_OPENFLOW_UNREACHABLE', `bridge ${bridge} does not answer`);

const complaint = ({ groups }: MutableBridge, op: BundleOp): string | undefined => {
  switch (op.op) {
    case 'addFlow':
      return groupsIn(op.flow.actions).every((group) => groups.has(group)) ? undefined : 'OFPBAC_BAD_OUT_GROUP';
    case 'addGroup':
      return groups.has(op.group) ? 'OFPGMFC_GROUP_EXISTS' : undefined;
    case 'resetGroup':
      return groups.has(op.group) ? undefined : 'OFPGMFC_UNKNOWN_GROUP';
    case 'insertBucket':
      if (!groups.has(op.group)) return 'OFPGMFC_UNKNOWN_GROUP';
      return groups.get(op.group)?.buckets.has(op.bucket) === true ? 'OFPGMFC_BUCKET_EXISTS' : undefined;
    case 'removeBucket':
      return groups.get(op.group)?.buckets.has(op.bucket) === true ? undefined : 'OFPGMFC_UNKNOWN_BUCKET';
    default:
      return undefined;
  }
};

const applied = (state: MutableBridge, op: BundleOp): MonitorEvent[] => {
  const gone = op.op === 'deleteFlow' ? [op.identity] : op.op === 'deleteGroup' ? usersOf(state, op.group) : [];
  const events = gone.flatMap((identity): MonitorEvent[] => {
    const there = state.flows.get(identity);
    state.flows.delete(identity);
    return there === undefined ? [] : [{ kind: 'deleted', flow: { identity, ...there } }];
  });
  applyOp(state, op);
  return op.op === 'addFlow' ? [{ kind: 'present', flow: op.flow }] : events;
};

const usersOf = ({ flows }: MutableBridge, group: number): string[] =>
  [...flows].filter(([, { actions }]) => groupsIn(actions).includes(group)).map(([identity]) => identity);

const groupsIn = (actions: string): number[] =>
  [...actions.matchAll(/(?:^|,)group:([0-9]+)/g)].map(([, group]) => Number(group));
