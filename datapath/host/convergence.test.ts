/** Whatever somebody does to the host: all of it is found, and repaired once and for all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { parseMac } from '../../net/mac.ts';
import { FakeKernel } from '../netlink/fake/fake-kernel.ts';
import { fakeNetlink } from '../netlink/fake/fake-netlink.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import type { Netlink } from '../netlink/netlink.ts';
import { route } from '../netlink/route/types.ts';
import {
  attacks,
  bridgeItems,
  bridgeOps,
  networkItems,
  noPort,
  PORT,
  portOps,
  routeAttacks,
  set,
  TABLE,
  VRF,
} from './host-world.suite.ts';
import { HostKeeper } from './keeper.suite.ts';
import { VRF_ALIAS } from './ownership.ts';
import type { HostItem } from './types.ts';

const items: readonly HostItem[] = [...bridgeItems, ...networkItems];

/** What somebody may do, in any order and at any time; much of it fails then, as it would. */
const disturbances: readonly (readonly KernelOp[])[] = [
  ...[...attacks, ...routeAttacks(TABLE), ...routeAttacks(254)].map(([, op]) => [op]),
  [noPort],
  portOps,
  [{ op: 'link.delete', name: VRF }],
  [set(PORT, { master: null })],
  [set(PORT, { up: false }), set(PORT, { up: true })],
  [{ op: 'link.delete', name: 'br-ex' }],
  bridgeOps,
  // One of ours, from another time. One of others would stay.
  [
    { op: 'link.delete', name: VRF },
    { op: 'master.add', master: { kind: 'vrf', name: VRF, table: 100_009 } },
    set(VRF, { alias: VRF_ALIAS }),
  ],
  [{ op: 'address.put', address: { link: PORT, address: parseInterfaceAddress('100.128.0.2/16') } }],
  [{ op: 'address.put', address: { link: PORT, address: parseInterfaceAddress('fd80::2/48') } }],
  [{ op: 'route.put', route: route({ dst: parseCidr('10.96.0.0/16'), type: 'blackhole', protocol: 4 }) }],
  [
    {
      op: 'neighbour.put',
      neighbour: { link: PORT, address: parseIp('100.128.0.1'), mac: parseMac('0a:00:00:00:00:01') },
    },
  ],
];

const disturbance = fc.constantFrom(...disturbances);
const subset = fc.subarray([...items]);

const newWorld = () => {
  const kernel = new FakeKernel();
  const netlink = fakeNetlink(kernel);
  kernel.netns().apply([...bridgeOps, ...portOps]);
  return { kernel, keeper: new HostKeeper(netlink) };
};

/** Another program changes the same objects: its events come between what the backend did and the answer to it. */
const newMeddledWorld = (steps: readonly (readonly KernelOp[])[]) => {
  const { kernel } = newWorld();
  const netlink = fakeNetlink(kernel);
  const left = [...steps];
  const meddled: Netlink = {
    ...netlink,
    apply: async (changes) => {
      const failures = await netlink.apply(changes);
      kernel.netns().apply(left.shift() ?? []);
      return failures;
    },
  };
  return { kernel, keeper: new HostKeeper(meddled), left };
};

/** Links that others make are there, so that nothing has to wait. */
const mend = (kernel: FakeKernel): void => {
  const own = kernel.netns();
  const made = [own.link('br-ex') === undefined ? bridgeOps : [], own.link(PORT) === undefined ? portOps : []].flat();
  const up = set('mp3-peer', { up: true });
  own.apply([...made, up, ...bridgeOps.filter(({ op }) => op === 'address.put')]);
};

describe('the host', () => {
  it('has nothing to be done when all has been done', async () => {
    await fc.assert(
      fc.asyncProperty(subset, subset, async (first, second) => {
        const { keeper } = newWorld();
        await keeper.want(...first).full();
        await keeper.settle();
        keeper.unwant(...first).want(...second);
        await keeper.settle();
        const { written, failed } = await keeper.full();
        const wasImpossible = new Set(failed.keys());
        expect(written).toBe(0);
        expect((await keeper.differences()).filter((text) => !wasImpossible.has(text.replace(/^\w+ /, '')))).toEqual(
          (await waitingOf(keeper)).map((key) => expect.stringContaining(key)),
        );
        await keeper.backend.close();
      }),
      { numRuns: 60 },
    );
  });

  it('comes to rest as desired, whatever happens in between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(disturbance, fc.integer({ min: 0, max: 4 })), { maxLength: 12 }),
        async (steps) => {
          const { kernel, keeper } = newWorld();
          keeper.want(...items);
          for (const [ops, doing] of steps) {
            const running = doing < 2 ? keeper.settle() : undefined;
            // Between the turns of the one who repairs.
            for (let turn = 0; turn < doing; turn++) await Promise.resolve();
            kernel.netns().apply(ops);
            if (doing === 3) kernel.loseEvents();
            await running;
          }
          mend(kernel);
          await keeper.settle();
          await keeper.full();
          await keeper.settle();
          expect(await keeper.differences()).toEqual([]);
          expect(await keeper.full()).toEqual({
            written: 0,
            writtenKeys: new Set(),
            failed: new Map(),
            waiting: new Map(),
          });
          await keeper.backend.close();
        },
      ),
      { numRuns: 150 },
    );
  });

  it('gets an event of every change that matters', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(disturbance, { minLength: 1, maxLength: 6 }), async (steps) => {
        const { kernel, keeper } = newWorld();
        await keeper.want(...items).full();
        await keeper.settle();
        for (const ops of steps) kernel.netns().apply(ops);
        mend(kernel);
        await keeper.settle();
        expect(await keeper.differences()).toEqual([]);
        await keeper.backend.close();
      }),
      { numRuns: 150 },
    );
  });
});

describe('while it is being brought about, the host', () => {
  it('gets an event of every change that matters', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(disturbance, { minLength: 1, maxLength: 6 }), async (steps) => {
        const { kernel, keeper, left: stillToDo } = newMeddledWorld(steps);
        await keeper.want(...items).full();
        await keeper.settle();
        for (const ops of stillToDo.splice(0)) kernel.netns().apply(ops);
        mend(kernel);
        await keeper.settle();
        await keeper.retry();
        expect(await keeper.differences()).toEqual([]);
        await keeper.backend.close();
      }),
      { numRuns: 150 },
    );
  });
});

const waitingOf = async (keeper: HostKeeper): Promise<string[]> => [...(await keeper.full()).waiting.keys()].sort();
