import { describe, expect, it } from 'vitest';
import { EarlyBundle } from './early-bundle.ts';
import { FakeSwitch } from './fake.ts';
import type { BundleOp } from './switch-client.ts';

const BRIDGE = 'br-ex';
const add = (identity: string, actions = 'drop'): BundleOp => ({
  op: 'addFlow',
  flow: { identity, cookie: '0x5', actions },
});

const world = () => {
  const client = new FakeSwitch();
  client.addBridge(BRIDGE);
  const early = new EarlyBundle(client.draft(BRIDGE));
  return { client, early };
};

describe('a bundle that is told early', () => {
  it('is done with what comes after', async () => {
    const { client, early } = world();
    const ops = [add('a'), add('b'), { op: 'deleteFlow', identity: 'c' } as const];
    early.tell(ops.slice(0, 1));
    early.tell(ops.slice(1, 2));
    expect(client.bundles).toEqual([]);
    expect(early.isBeginningOf(ops)).toBe(true);
    await early.commit(ops);
    expect(client.bundles).toEqual([ops]);
  });

  it.each([
    { name: 'in another order', ops: [add('b'), add('a')] },
    { name: 'with other actions', ops: [add('a'), add('b', 'NORMAL')] },
    { name: 'without one of them', ops: [add('a')] },
    { name: 'with something before it', ops: [{ op: 'addGroup', group: 1 } as const, add('a'), add('b')] },
  ])('is no beginning of a bundle $name', ({ ops }) => {
    const { client, early } = world();
    early.tell([add('a'), add('b')]);
    expect(early.isBeginningOf(ops)).toBe(false);
    expect(client.bundles).toEqual([]);
  });
});
