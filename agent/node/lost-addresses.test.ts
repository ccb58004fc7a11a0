import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { NetlinkEvent, NetlinkListener } from '../../datapath/netlink/monitor/events.ts';
import { watchLostAddresses } from './lost-addresses.ts';

const gone = (address: string): NetlinkEvent =>
  ({ kind: 'address', change: 'gone', address: { address, link: 'br-ex' } }) as NetlinkEvent;

it('reports addresses that stay away, once, and not those that are back at once', async () => {
  const clock = createFakeClock();
  const lost: string[] = [];
  const there = new Set(['10.0.0.2']);
  let emit: NetlinkListener = () => undefined;
  const netlink = {
    watch: (listener: NetlinkListener) => {
      emit = listener;
      return () => undefined;
    },
  };
  const hasAddress = (address: string): boolean => there.has(address);
  const stop = watchLostAddresses(netlink, (address) => lost.push(address), { clock, hasAddress });
  emit([gone('10.0.0.1/24'), gone('10.0.0.2/24'), gone('10.0.0.1/24')]);
  expect(lost).toEqual([]);
  await clock.advance(2_000);
  expect(lost).toEqual(['10.0.0.1']);
  emit([gone('10.0.0.3/24')]);
  stop();
  await clock.advance(2_000);
  expect(lost).toEqual(['10.0.0.1']);
});
