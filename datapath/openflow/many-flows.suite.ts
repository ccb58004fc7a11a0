/** Thousands of flows by key, the first of which are sent while later ones are still being looked at. */
import { describe, expect, it } from 'vitest';
import { OpenflowBackend } from './backend.ts';
import type { SwitchWorld } from './testing/world.ts';
import { type BridgeItem, bridgeItemKey } from './types.ts';

const BRIDGE = 'br-ex';
const PORT = 'eth0';
const COOKIE = 5n;
const MANY = 2_500;
const WAIT_MS = 30_000;

const flow = (index: number, actions = 'drop'): BridgeItem => ({
  bridge: BRIDGE,
  kind: 'flow',
  flow: { table: 3, priority: index, cookie: COOKIE, inPort: PORT, match: { ip: true }, actions: [actions] },
});

const many = (actions?: string): BridgeItem[] => Array.from({ length: MANY }, (_, index) => flow(index, actions));

class Subject {
  readonly world: SwitchWorld;
  readonly backend: OpenflowBackend;
  #desired = new Map<string, BridgeItem>();

  constructor(world: SwitchWorld) {
    this.world = world;
    const { client, ports } = world;
    this.backend = new OpenflowBackend({ client, ports, cookies: [COOKIE], isOurGroup: () => true });
  }

  /** What was desired and what is now, by key. */
  want(...items: readonly BridgeItem[]) {
    const before = this.#desired;
    this.#desired = new Map(items.map((item) => [bridgeItemKey(item), item]));
    return this.#reconcile(new Set([...before.keys(), ...this.#desired.keys()]));
  }

  async begin(): Promise<void> {
    await this.world.addBridge(BRIDGE);
    await this.world.addPort(BRIDGE, PORT, 1);
    await this.want(flow(MANY));
  }

  differences() {
    return this.backend.difference(this.#desired, AbortSignal.timeout(WAIT_MS));
  }

  #reconcile(keys: ReadonlySet<string>) {
    return this.backend.reconcile({ desired: this.#desired, keys, prune: true }, AbortSignal.timeout(WAIT_MS));
  }
}

const CASES: readonly (readonly [title: string, run: (subject: Subject) => Promise<void>])[] = [
  [
    'are written, changed and removed',
    async (subject) => {
      expect(await subject.want(flow(MANY), ...many())).toMatchObject({ written: MANY, failed: new Map() });
      expect(await subject.differences()).toEqual([]);
      expect((await subject.want(flow(MANY), ...many('NORMAL'))).written).toBe(MANY);
      expect(await subject.differences()).toEqual([]);
      expect((await subject.want(flow(MANY))).written).toBe(MANY);
      expect(await subject.differences()).toEqual([]);
    },
  ],
  [
    'take the places of those that go',
    async (subject) => {
      await subject.want(flow(MANY), ...many());
      const moved = many('NORMAL').map((item, index) =>
        item.kind === 'flow' ? { ...item, flow: { ...item.flow, priority: index + MANY / 2 } } : item,
      );
      expect((await subject.want(...moved)).failed).toEqual(new Map());
      expect(await subject.differences()).toEqual([]);
    },
  ],
  [
    'come after the group that they name',
    async (subject) => {
      const group: BridgeItem = { bridge: BRIDGE, kind: 'group', group: { id: 7 } };
      expect((await subject.want(flow(MANY), ...many('group:7'), group)).failed).toEqual(new Map());
      expect(await subject.differences()).toEqual([]);
    },
  ],
  [
    'are written but for one that the bridge refuses',
    async (subject) => {
      const refused = flow(MANY + 1, 'group:99');
      const { written, failed } = await subject.want(flow(MANY), ...many(), refused);
      expect(written).toBe(MANY);
      expect([...failed.keys()]).toEqual([bridgeItemKey(refused)]);
      expect(await subject.differences()).toMatchObject([{ kind: 'missing', key: bridgeItemKey(refused) }]);
    },
  ],
];

export const manyFlowsSuite = (name: string, create: () => Promise<SwitchWorld>): void => {
  describe(`many flows on ${name}`, () => {
    for (const [title, run] of CASES) {
      it(title, async () => {
        const world = await create();
        const subject = new Subject(world);
        try {
          await subject.begin();
          await run(subject);
        } finally {
          await subject.backend.close();
          await world[Symbol.asyncDispose]();
        }
      });
    }
  });
};
