import { describe, expect, it } from 'vitest';
import { EarlyBundle } from './early-bundle.ts';
import { FakeSwitch } from './fake.ts';
import type { BundleOp } from './switch-client.ts';

const BRIDGE = 'br-ex';
const add = (match: string, actions = 'drop'): BundleOp => ({
  op: 'addFlow',
  flow: { identity: `table=0,priority=1,${match}`, cookie: '0x5', actions },
});

const world = () => {
  const client = new FakeSwitch();
  client.addBridge(BRIDGE);
  const early = new EarlyBundle(client.draft(BRIDGE));
  return { client, early };
};

describe('a bundle that is sent early', () => {
  it('is done with what comes after', async () => {
    const { client, early } = world();
    const ops = [add('ip'), add('arp'), { op: 'deleteFlow', identity: 'table=0,priority=1,ipv6' } as const];
    early.append(ops.slice(0, 1));
    early.append(ops.slice(1, 2));
    expect(client.bundles).toEqual([]);
    expect(early.isBeginningOf(ops)).toBe(true);
    await early.commit(ops);
    expect(client.bundles).toEqual([ops]);
  });

  it.each([
    { name: 'in another order', ops: [add('arp'), add('ip')] },
    { name: 'with other actions', ops: [add('ip'), add('arp', 'NORMAL')] },
    { name: 'without one of them', ops: [add('ip')] },
    { name: 'with something before it', ops: [{ op: 'addGroup', group: 1 } as const, add('ip'), add('arp')] },
  ])('is no beginning of a bundle $name', ({ ops }) => {
    const { client, early } = world();
    early.append([add('ip'), add('arp')]);
    expect(early.isBeginningOf(ops)).toBe(false);
    expect(client.bundles).toEqual([]);
  });
});
