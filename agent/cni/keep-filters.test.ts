import { describe, expect, it } from 'vitest';
import { EGRESS_MISSING } from '../../datapath/netlink/frame-filter/types.ts';
import { withPod } from '../testing/cni-handler.ts';
import { findNoFilters } from './keep-filters.ts';

const logged = () => {
  const lines: unknown[] = [];
  return {
    lines,
    log: { error: (fields: object) => lines.push(fields), warn: (fields: object) => lines.push(fields) },
  };
};

describe('a kernel without the hook of frame filters', () => {
  it('is found out at the start, and logged', async () => {
    const { lines, log } = logged();
    expect(await findNoFilters(withPod({ egress: false }).netlink.pods, log)).toBe(EGRESS_MISSING);
    expect(lines).toEqual([{ reason: EGRESS_MISSING }]);
  });

  it('makes ADD fail with the same words, and leaves nothing', async () => {
    const it = withPod({ egress: false });
    await expect(it.call('ADD')).rejects.toThrow(EGRESS_MISSING);
    expect([it.ports.all(), await it.netlink.pods.list()]).toEqual([[], []]);
    expect(it.failures).toEqual([expect.stringContaining(EGRESS_MISSING)]);
  });
});

it('a kernel that has it is no reason, nor is one that does not say', async () => {
  const { lines, log } = logged();
  expect(await findNoFilters(withPod().netlink.pods, log)).toBeUndefined();
  expect(lines).toEqual([]);
  const why = new Error('EPERM');
  expect(await findNoFilters({ whyNoFilters: () => Promise.reject(why) }, log)).toBeUndefined();
  expect(lines).toEqual([{ err: why }]);
});
