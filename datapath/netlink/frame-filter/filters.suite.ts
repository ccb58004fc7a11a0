/** What keeping filters may rely on; the real kernel's half is nf_tables. */
import { expect, it } from 'vitest';
import { parseMac } from '../../../net/mac.ts';
import type { KernelWorld } from '../kernel/kernel-world.suite.ts';
import type { KernelOp } from '../kernel/types.ts';
import type { FrameFilter, FrameRule } from './types.ts';

const MAC = parseMac('0a:58:0a:80:01:03');
const EVERY_TEST: readonly FrameRule[] = [
  { tests: [{ at: 12, is: '86dd6000000000203aff' }, { length: 86 }], verdict: 'accept' },
  { tests: [{ at: 22, is: 'fe80', mask: 'ffc0' }], verdict: 'drop' },
  { tests: [{ at: 54, from: 130, to: 143 }], verdict: 'drop' },
  { tests: [{ sender: 'locked' }], verdict: 'drop' },
  { tests: [{ sender: 'not locked' }], verdict: 'accept' },
  { tests: [], verdict: 'accept' },
];

export const filterCases = ({ node, hostName, harness }: KernelWorld): void => {
  const filter = (rules = EVERY_TEST, isLocked = true): FrameFilter => ({
    link: hostName(),
    rules,
    receiver: { mac: MAC, isLocked },
  });
  const put = (one: FrameFilter): KernelOp => ({ op: 'filter.put', filter: one });
  const keep = (filters: readonly FrameFilter[], isAll = false) => harness().netlink.pods.keepFilters(filters, isAll);

  it('has the filter that was put last, whatever there was', async () => {
    expect(await node(put(filter()))).toEqual([]);
    expect(await keep([filter()])).toEqual([]);
    const other = filter([{ tests: [], verdict: 'drop' }]);
    expect(await keep([other])).toEqual([hostName()]);
    expect(await keep([other])).toEqual([]);
    expect(await node(put(filter()), put(other), put(filter()))).toEqual([]);
    expect(await keep([filter()])).toEqual([]);
  });

  it('knows whether a pod is locked by the last filter of its MAC', async () => {
    expect(await node(put(filter()))).toEqual([]);
    expect(await keep([filter(EVERY_TEST, false)])).toEqual([hostName()]);
    expect(await keep([filter(EVERY_TEST, false)])).toEqual([]);
    expect(await keep([filter()])).toEqual([hostName()]);
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

  it('has none of links that are gone', async () => {
    await node(put(filter()));
    await node({ op: 'link.delete', name: hostName() });
    expect(await keep([filter()], true)).toEqual([]);
    const { filters } = await harness().netlink.read({ filters: true });
    expect(filters.digests.has(hostName())).toBe(false);
  });
};
