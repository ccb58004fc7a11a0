/** What keeping filters may rely on; the real kernel's half is nf_tables. */
import { expect, it } from 'vitest';
import { type Mac, parseMac } from '../../../net/mac.ts';
import type { KernelWorld } from '../kernel/kernel-world.suite.ts';
import type { KernelOp } from '../kernel/types.ts';
import { type FrameFilter, type FrameRule, type SharedChain, sharedChain } from './types.ts';

const MAC = parseMac('0a:58:0a:80:01:03');
const EVERY_TEST: readonly FrameRule[] = [
  { tests: [{ at: 12, is: '86dd6000000000203aff' }, { length: 86 }], verdict: 'accept' },
  { tests: [{ at: 22, is: 'fe80', mask: 'ffc0' }], verdict: 'drop' },
  { tests: [{ at: 54, from: 130, to: 143 }], verdict: 'drop' },
  { tests: [{ sender: 'locked' }], verdict: 'drop' },
  { tests: [{ sender: 'not locked' }], verdict: 'accept' },
  { tests: [{ origin: 'routed' }], verdict: 'accept' },
  { tests: [{ origin: 'process' }, { origin: 'marked' }], verdict: 'drop' },
  { tests: [], verdict: 'accept' },
];
const SHARED = sharedChain([{ tests: [{ at: 12, is: '0800' }], verdict: 'return' }, ...EVERY_TEST]);

const filterWorld = ({ node, hostName, harness }: KernelWorld) => {
  const filter = (rules = EVERY_TEST, isLocked = true, shared: SharedChain = SHARED): FrameFilter => ({
    link: hostName(),
    shared,
    rules,
    receiver: { mac: MAC, isLocked },
  });
  const observed = async () => (await harness().netlink.read({ filters: true })).filters;
  const sharedNames = async (): Promise<string[]> => [...(await observed()).shared.keys()];
  const put = (one: FrameFilter): KernelOp => ({ op: 'filter.put', filter: one });
  const keep = (filters: readonly FrameFilter[], isAll = false, lockedMacs?: readonly Mac[]) =>
    harness().netlink.pods.keepFilters(filters, isAll ? { shared: true, lockedMacs } : undefined);
  return { node, hostName, filter, observed, sharedNames, put, keep };
};

export const filterCases = (world: KernelWorld): void => {
  const { node, hostName, filter, observed, sharedNames, put, keep } = filterWorld(world);

  it('has the filter that was put last, whatever there was', async () => {
    expect(await node(put(filter()))).toEqual([]);
    expect(await keep([filter()])).toEqual([]);
    const other = filter([{ tests: [], verdict: 'drop' }]);
    expect(await keep([other])).toEqual([hostName()]);
    expect(await keep([other])).toEqual([]);
    expect(await node(put(filter()), put(other), put(filter()))).toEqual([]);
    const again: KernelOp = { op: 'filter.put', filter: filter(), withShared: true };
    expect(await node(again, again)).toEqual([]);
    expect(await keep([filter()])).toEqual([]);
  });

  it('puts back what somebody has deleted, of one link and of all', async () => {
    await node(put(filter()));
    const gone: KernelOp = { op: 'filter.delete', link: hostName() };
    expect(await node(gone, gone)).toEqual([]);
    expect(await keep([filter()])).toEqual([hostName()]);
    expect(await node({ op: 'filters.clear' }, { op: 'filters.clear' })).toEqual([]);
    expect(await keep([filter()])).toEqual([hostName()]);
    expect(await keep([filter()])).toEqual([]);
  });

  it('has what links share as long as one of them needs it', async () => {
    const [first, second] = [sharedChain([]), sharedChain([{ tests: [], verdict: 'return' }])];
    await node(put(filter(EVERY_TEST, true, first)));
    expect(await node({ op: 'filter.unshare', name: first.name })).toEqual([]);
    expect(await sharedNames()).toContain(first.name);
    const other = filter(EVERY_TEST, true, second);
    expect(await keep([other])).toEqual([hostName()]);
    expect(await sharedNames()).toEqual(expect.arrayContaining([first.name, second.name]));
    expect(await keep([other], true)).toEqual([]);
    expect(await sharedNames()).toContain(second.name);
    expect(await sharedNames()).not.toContain(first.name);
    expect(await node({ op: 'filter.unshare', name: first.name })).toEqual([]);
  });

  it('puts filters of several links together, or each by itself', async () => {
    const second: FrameFilter = { ...filter(), link: 'lo', receiver: { mac: MAC, isLocked: undefined } };
    expect(await node(put(filter()), put(second))).toEqual([]);
    expect(await keep([filter(), second])).toEqual([]);
    // One that is there refuses the batch of both.
    const third: FrameFilter = { ...second, shared: sharedChain([]) };
    expect(await node(put(filter(EVERY_TEST, false)), put(third))).toEqual([]);
    expect(await keep([filter(EVERY_TEST, false), third])).toEqual([]);
    await node({ op: 'filter.delete', link: 'lo' });
  });

  it('has none of links that are gone', async () => {
    await node(put(filter()));
    await node({ op: 'link.delete', name: hostName() });
    expect(await keep([filter()], true)).toEqual([]);
    expect((await observed()).digests.has(hostName())).toBe(false);
  });
};

export const lockedPodCases = (world: KernelWorld): void => {
  const { node, hostName, filter, observed, put, keep } = filterWorld(world);

  it('knows whether a pod is locked by the last filter of its MAC', async () => {
    expect(await node(put(filter()))).toEqual([]);
    expect(await keep([filter(EVERY_TEST, false)])).toEqual([hostName()]);
    expect(await keep([filter(EVERY_TEST, false)])).toEqual([]);
    expect(await keep([filter()])).toEqual([hostName()]);
  });

  it('forgets MACs that are no locked pod’s, when all of those are known', async () => {
    const other = parseMac('0a:58:0a:80:01:04');
    const unlocked = filter(EVERY_TEST, false);
    const macs = async (): Promise<boolean[]> => {
      const { lockedMacs } = await observed();
      return [MAC, other].map((mac) => lockedMacs.has(mac));
    };
    await node(put({ ...filter(), receiver: { mac: other, isLocked: true } }), put(filter()));
    await keep([filter()], true);
    expect(await macs()).toEqual([true, true]);
    await keep([filter()], true, [other]);
    expect(await macs()).toEqual([true, true]);
    expect(await keep([filter()], true, [])).toEqual([]);
    expect(await macs()).toEqual([true, false]);
    const unlock: KernelOp = { op: 'filter.unlock', mac: MAC };
    expect(await node(unlock, unlock)).toEqual([]);
    expect(await keep([unlocked])).toEqual([]);
  });
};
