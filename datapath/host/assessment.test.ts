import { expect, it } from 'vitest';
import { parseInterfaceAddress } from '../../net/cidr.ts';
import { FakeKernel } from '../netlink/fake/fake-kernel.ts';
import { NO_FILTERS } from '../netlink/frame-filter/types.ts';
import { assess, isRight } from './assessment.ts';
import { DesiredIndex } from './desired-index.ts';
import { address, bridgeOps } from './host-world.suite.ts';
import { OWNERSHIP } from './keeper.suite.ts';
import { Mirror } from './mirror.ts';

const TEXT = 'fd69::2/112';

const assessmentOf = (noDad: boolean) => {
  const netns = new FakeKernel().netns();
  netns.apply(bridgeOps);
  const mirror = new Mirror();
  const tentative = {
    link: 'br-ex',
    address: parseInterfaceAddress(TEXT),
    scope: 'global',
    state: 'tentative',
  } as const;
  mirror.load({
    links: netns.links(),
    addresses: [tentative],
    routes: [],
    rules: [],
    neighbours: [],
    filters: NO_FILTERS,
    sysctls: new Map(),
  });
  return assess(address('br-ex', TEXT, { noDad }), {
    mirror,
    index: new DesiredIndex(OWNERSHIP),
    ownership: OWNERSHIP,
  });
};

it('an address that somebody has put, so that it has to wait, is put again', () => {
  const { ops } = assessmentOf(true);
  expect(ops.map(({ op }) => op)).toEqual(['address.delete', 'address.put']);
});

it('one that is to wait may wait', () => expect(isRight(assessmentOf(false))).toBe(true));
