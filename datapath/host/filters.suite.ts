/** Filters of links, on the fake and on the real kernel. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Harness } from '../netlink/harness.suite.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import { link, noPort, PORT, portOps } from './host-world.suite.ts';
import { HostKeeper } from './keeper.suite.ts';
import type { HostItem } from './types.ts';

export const FILTER: Extract<HostItem, { kind: 'filter' }> = {
  kind: 'filter',
  filter: {
    link: PORT,
    rules: [
      { tests: [{ origin: 'routed' }], verdict: 'accept' },
      { tests: [{ origin: 'process' }], verdict: 'drop' },
      { tests: [], verdict: 'accept' },
    ],
  },
};

export const filterSuite = (name: string, open: () => Promise<Harness>): void => {
  describe(`filters of links (${name})`, () => {
    let harness: Harness;
    let keeper: HostKeeper;
    const others = async (...ops: readonly KernelOp[]): Promise<void> => {
      expect(await harness.netlink.apply({ ops })).toEqual([]);
    };
    beforeEach(async () => {
      harness = await open();
      keeper = new HostKeeper(harness.netlink);
    });
    afterEach(async () => {
      await keeper.backend.close();
      await harness[Symbol.asyncDispose]();
    });

    it('come with their link, each time', async () => {
      const { waiting } = await keeper.want(FILTER, link(PORT)).full();
      expect(waiting.get(`filter ${PORT}`)).toBe(`link ${PORT} does not exist`);
      for (const ops of [portOps, [noPort, ...portOps]]) {
        await others(...ops);
        await keeper.settle();
        expect(await keeper.differences()).toEqual([]);
      }
    });

    it('come back when somebody says that they may have been changed', async () => {
      await others(...portOps);
      await keeper.want(FILTER, link(PORT)).settle();
      for (const [which, op] of [
        [PORT, { op: 'filter.delete', link: PORT }],
        [undefined, { op: 'filters.clear' }],
      ] as const) {
        await others(op);
        expect(await keeper.differences()).toEqual([`missing filter ${PORT}`]);
        keeper.backend.loseFilters(which);
        expect(await keeper.settle()).toBe(1);
        expect(await keeper.differences()).toEqual([]);
      }
      keeper.backend.loseFilters();
      expect(await keeper.settle()).toBe(0);
    });

    it('are left alone by the next agent, and go when no owner desires them', async () => {
      await others(...portOps);
      await keeper.want(FILTER, link(PORT)).settle();
      const next = new HostKeeper(keeper.netlink);
      expect((await next.want(FILTER, link(PORT)).full()).written).toBe(0);
      expect(await next.unwant(FILTER).settle()).toBe(1);
      expect((await harness.netlink.read({ filters: true })).filters.digests).toEqual(new Map());
      await next.backend.close();
    });
  });
};
