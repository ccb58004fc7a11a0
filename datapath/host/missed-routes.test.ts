/** What a dump or an event of routes leaves out: the mirror has to find it out, or the next silent change goes unrepaired. */
import { describe, expect, it } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { fakeHarness } from '../netlink/harness.suite.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import type { Netlink } from '../netlink/netlink.ts';
import { MAIN_TABLE, type Route, route, routeKey } from '../netlink/route/types.ts';
import { bridgeOps, PORT, portItems, portOps, routeTo, set } from './host-world.suite.ts';
import { HostKeeper } from './keeper.suite.ts';
import { Mirror } from './mirror.ts';
import { hostItemKey } from './types.ts';

it('a route that a dump left out is repaired when it goes silently, with the last address of its link', async () => {
  const { netlink } = await fakeHarness();
  await netlink.apply({ ops: [...bridgeOps, ...portOps] });
  const leftOut = hostItemKey(routeTo('169.254.0.12/32', { dev: PORT }));
  let isIncomplete = false;
  const concurrent: Netlink = {
    ...netlink,
    read: async (query) => {
      const snapshot = await netlink.read(query);
      const routes = snapshot.routes.filter((one) => !isIncomplete || `route ${routeKey(one)}` !== leftOut);
      isIncomplete = false;
      return { ...snapshot, routes };
    },
  };
  const keeper = new HostKeeper(concurrent).want(...portItems(MAIN_TABLE));
  await keeper.settle();
  isIncomplete = true;
  await keeper.full();
  await keeper.settle();
  expect(isIncomplete).toBe(false);

  await netlink.apply({
    ops: [{ op: 'address.delete', address: { link: PORT, address: parseInterfaceAddress('100.128.0.2/24') } }],
  });
  await keeper.settle();
  expect(await keeper.differences()).toEqual([]);
});

it('a route that goes while others are read is repaired, though its event comes after the reading', async () => {
  const { netlink } = await fakeHarness();
  await netlink.apply({ ops: [...bridgeOps, ...portOps] });
  const attack: KernelOp = {
    op: 'address.delete',
    address: { link: PORT, address: parseInterfaceAddress('100.128.0.2/24') },
  };
  let isAttacked = false;
  let held: (() => void)[] | undefined;
  const attacked: Netlink = {
    ...netlink,
    read: async (query) => {
      if (isAttacked) {
        held = [];
        await netlink.apply({ ops: [attack] });
        isAttacked = false;
      }
      return netlink.read(query);
    },
    watch: (listener) =>
      netlink.watch((events) => void (held === undefined ? listener(events) : held.push(() => listener(events)))),
  };
  const keeper = new HostKeeper(attacked).want(...portItems(MAIN_TABLE), routeTo('172.30.0.0/16', { dev: 'br-ex' }));
  await keeper.settle();
  isAttacked = true;
  // A route of another link in the same table is why it is read.
  await netlink.apply({ ops: [set('br-ex', { up: false }), set('br-ex', { up: true })] });
  await keeper.settle();
  const late = held ?? [];
  held = undefined;
  expect(late).not.toEqual([]);
  for (const deliver of late) deliver();
  await keeper.settle();
  expect(await keeper.differences()).toEqual([]);
});

describe('of several routes with one key', () => {
  const via = (last: number): Route =>
    route({ dst: parseCidr('100.128.0.0/16'), dev: PORT, via: parseIp(`100.128.0.${last}`) });
  const seen = (at: Route, replaced: boolean) => ({ kind: 'route', change: 'new', replaced, route: at }) as const;

  it('the mirror does not believe events alone: they do not say which is the first', () => {
    const mirror = new Mirror();
    mirror.apply(seen(via(9), false));
    expect([...mirror.staleTables]).toEqual([]);
    mirror.apply(seen(via(7), false));
    expect([...mirror.staleTables]).toEqual([MAIN_TABLE]);
    mirror.loadTables(new Set([MAIN_TABLE]), [via(9), via(7)]);
    mirror.apply(seen(via(1), true));
    expect([...mirror.staleTables]).toEqual([MAIN_TABLE]);
  });

  it('one that takes the place of the only one is believed', () => {
    const mirror = new Mirror();
    mirror.apply(seen(via(9), false));
    mirror.apply(seen(via(1), true));
    expect([...mirror.staleTables]).toEqual([]);
    expect([...mirror.routes.values()]).toEqual([[via(1)]]);
  });
});
