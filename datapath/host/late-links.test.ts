/**
 * A link that others make comes at any moment of what is done for the things on it: before it is looked at, between the look
 * and the answer, and after. Its events must be enough, for what is done and for what is said of it.
 */
import { describe, expect, it } from 'vitest';
import { parseIp } from '../../net/ip.ts';
import { FakeKernel } from '../netlink/fake/fake-kernel.ts';
import { fakeNetlink } from '../netlink/fake/fake-netlink.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import type { Netlink } from '../netlink/netlink.ts';
import {
  address,
  bridgeItems,
  bridgeOps,
  link,
  networkItems,
  noPort,
  PORT,
  portItems,
  portOps,
  routeTo,
  set,
} from './host-world.suite.ts';
import { HostKeeper } from './keeper.suite.ts';
import { hostItemKey } from './types.ts';

/** @param at what happens at which moment: before every call, and before the answer */
const worldWith = (vrf: boolean, at: ReadonlyMap<number, readonly KernelOp[]>) => {
  const kernel = new FakeKernel({ vrf });
  kernel.netns().apply(bridgeOps);
  const netlink = fakeNetlink(kernel);
  const left = new Map(at);
  let moment = 0;
  const passes = (): void => {
    kernel.netns().apply(left.get(moment) ?? []);
    left.delete(moment++);
  };
  const turns = async (): Promise<void> => {
    passes();
    await Promise.resolve();
    passes();
  };
  const slow: Netlink = {
    ...netlink,
    // Events of a reading come after its answer; events while something is applied, before.
    read: async (query) => {
      await turns();
      return netlink.read(query);
    },
    apply: async (changes) => {
      await turns();
      const failures = await netlink.apply(changes);
      await turns();
      return failures;
    },
  };
  /** What has not happened yet does now. */
  const finish = (): void => {
    for (const ops of left.values()) kernel.netns().apply(ops);
    left.clear();
  };
  return { keeper: new HostKeeper(slow), finish, moments: () => moment };
};

const cases = [
  ['in the main table', true, portItems(254)],
  ['of a network in its VRF', true, networkItems],
  ['of a network where there are no VRFs', false, networkItems],
] as const;

describe.each(cases)('things on a link that comes late, %s,', (_, vrf, items) => {
  /** @returns how many moments there were */
  const check = async (at: ReadonlyMap<number, readonly KernelOp[]>): Promise<number> => {
    const { keeper, finish, moments } = worldWith(vrf, at);
    // As at the start, and then as a network that is added.
    await keeper.want(...bridgeItems).full();
    await keeper.settle();
    keeper.want(...items);
    await keeper.settle();
    finish();
    await keeper.settle();
    const what = JSON.stringify([...at.keys()]);
    expect([what, [...keeper.problems]]).toEqual([what, []]);
    if (vrf) expect([what, await keeper.differences()]).toEqual([what, []]);
    await keeper.backend.close();
    return moments();
  };

  it('are right whenever it comes', async () => {
    for (let moment = 0; moment <= (await check(new Map([[moment, portOps]]))); moment++);
  });

  it('are right whenever it comes, goes and comes again', async () => {
    const moments = await check(new Map([[0, portOps]]));
    for (let coming = 0; coming < moments; coming++) {
      for (const staying of [1, 2, 3, 5]) {
        const gone = coming + staying;
        const again = gone + ((coming + staying) % 3) + 1;
        const steps = [[coming, portOps] as const, [gone, [noPort]] as const, [again, portOps] as const];
        await check(new Map(steps));
      }
    }
  });
});

it('says what it waits for now, when that is something else', async () => {
  const { keeper, finish } = worldWith(true, new Map([[1000, portOps]]));
  const onPort = [
    address(PORT, '100.128.0.2/24'),
    routeTo('100.128.0.0/16', { dev: PORT, via: parseIp('100.128.0.1') }),
  ];
  const problemsOfPort = (): (string | undefined)[] => onPort.map((item) => keeper.problems.get(hostItemKey(item)));
  await keeper.want(...onPort).full();
  expect(problemsOfPort()).toEqual([`link ${PORT} does not exist`, `link ${PORT} does not exist`]);
  finish();
  await keeper.settle();
  expect(problemsOfPort()).toEqual([undefined, `link ${PORT} is down`]);
  await keeper.netlink.apply({ ops: [set(PORT, { up: true })] });
  await keeper.settle();
  expect(problemsOfPort()).toEqual([undefined, undefined]);
  keeper.want(link(PORT, { master: 'nobody' }));
  await keeper.settle();
  expect(keeper.problems.get(`link ${PORT}`)).toBe('VRF nobody does not exist');
});

it('removes what it has brought about when no owner desired it any more by then', async () => {
  const kernel = new FakeKernel();
  kernel.netns().apply(bridgeOps);
  const netlink = fakeNetlink(kernel);
  const ours = address('br-ex', '192.0.2.9/24');
  const answered = Promise.withResolvers<void>();
  const applied = Promise.withResolvers<void>();
  const keeper = new HostKeeper({
    ...netlink,
    apply: async (changes) => {
      const failures = await netlink.apply(changes);
      applied.resolve();
      await answered.promise;
      return failures;
    },
  });
  await keeper.full();
  keeper.want(ours);
  const running = keeper.settle();
  await applied.promise;
  keeper.unwant(ours);
  answered.resolve();
  await running;
  await keeper.settle();
  expect((await netlink.read({ addresses: true })).addresses.map((one) => one.address)).not.toContain('192.0.2.9/24');
  await keeper.backend.close();
});
