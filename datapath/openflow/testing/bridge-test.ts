/** A backend on a bridge with three ports: what the suites begin with. */
import { describe, it } from 'vitest';
import { unlessAborted } from '../../../base/abort.ts';
import type { OutsideChange, ReconcileOutcome } from '../../backend.ts';
import { OpenflowBackend } from '../backend.ts';
import { type BridgeItem, bridgeItemKey, type Flow } from '../types.ts';
import { COOKIE, COOKIES, DEFAULT_PATCH, NETWORK_PATCH, UPLINK } from './gateway-flows.ts';
import type { SwitchWorld } from './world.ts';

export const BRIDGE = 'br-ex';
const WAIT_MS = 30_000;
export const SIGNAL = new AbortController().signal;

export type Case = readonly [title: string, run: (test: Test) => Promise<void>];

export const flowItem = (over: Partial<Flow> = {}): BridgeItem => ({
  bridge: BRIDGE,
  kind: 'flow',
  flow: { table: 0, priority: 9, cookie: COOKIE, inPort: UPLINK, match: {}, actions: [], ...over },
});

/** The backend with the desired state, and the changes that it reported. */
export class Subject {
  readonly backend: OpenflowBackend;
  readonly changes: OutsideChange[] = [];
  desired = new Map<string, BridgeItem>();
  #wake: (() => void) | undefined;

  constructor({ client, ports }: Pick<SwitchWorld, 'client' | 'ports'>) {
    this.backend = new OpenflowBackend({ client, ports, cookies: COOKIES, isOurGroup: (id) => id < 100 });
    this.backend.listen((change) => {
      this.changes.push(change);
      this.#wake?.();
    });
  }

  want(...items: readonly BridgeItem[]): void {
    this.desired = new Map(items.map((item) => [bridgeItemKey(item), item]));
  }

  reconcile(keys: ReadonlySet<string> | 'all' = 'all', prune = true): Promise<ReconcileOutcome> {
    return this.backend.reconcile({ desired: this.desired, keys, prune }, AbortSignal.timeout(WAIT_MS));
  }

  differences() {
    return this.backend.difference(this.desired, AbortSignal.timeout(WAIT_MS));
  }

  /** The next change of a cause, of those not taken yet. */
  async reported(cause: OutsideChange['cause']): Promise<OutsideChange> {
    const deadline = AbortSignal.timeout(WAIT_MS);
    for (;;) {
      const index = this.changes.findIndex((change) => change.cause === cause);
      const [change] = index < 0 ? [] : this.changes.splice(index, 1);
      if (change !== undefined) return change;
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await unlessAborted(deadline, woken).catch(() => {
        throw new Error(`nothing was told of ${cause}`);
      });
    }
  }
}

/** A switch with three ports, and the backend on it. */
export class Test {
  readonly world: SwitchWorld;
  readonly subject: Subject;

  constructor(world: SwitchWorld) {
    this.world = world;
    this.subject = new Subject(world);
  }

  static async create(world: SwitchWorld): Promise<Test> {
    await world.addBridge(BRIDGE);
    await world.addPort(BRIDGE, UPLINK, 1);
    await world.addPort(BRIDGE, DEFAULT_PATCH, 2);
    await world.addPort(BRIDGE, NETWORK_PATCH, 3);
    return new Test(world);
  }

  async identities(): Promise<string[]> {
    return [...(await this.world.client.flows(BRIDGE, SIGNAL)).keys()].sort();
  }

  /** Ports that floods do not reach. */
  async noFlood(): Promise<number[]> {
    const ports = await this.world.client.ports(BRIDGE, SIGNAL);
    const closed = ports.filter(({ noFlood }) => noFlood).map(({ number }) => number);
    return closed.sort((a, b) => a - b);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.subject.backend.close();
    await this.world[Symbol.asyncDispose]();
  }
}

/** One test for each case, with a switch of its own. */
export const describeCases = (name: string, create: () => Promise<SwitchWorld>, cases: readonly Case[]): void => {
  describe(name, () => {
    for (const [title, run] of cases) {
      it(title, async () => {
        const test = await Test.create(await create());
        try {
          await run(test);
        } finally {
          await test[Symbol.asyncDispose]();
        }
      });
    }
  });
};
