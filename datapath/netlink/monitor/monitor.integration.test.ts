import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseCidr } from '../../../net/cidr.ts';
import { defaultAddonPath, loadAddon } from '../kernel/addon.ts';
import { LinuxKernel } from '../kernel/linux.ts';
import type { KernelOp } from '../kernel/types.ts';
import { route } from '../route/types.ts';
import { startNetlink } from '../worker/client.ts';
import type { NetlinkEvent } from './events.ts';

const addon = loadAddon(defaultAddonPath());
let name: string;
beforeEach(() => {
  name = `udn-test-${randomBytes(4).toString('hex')}`;
  execFileSync('ip', ['netns', 'add', name]);
  ip('link', 'set', 'lo', 'up');
});
afterEach(() => execFileSync('ip', ['netns', 'delete', name]));
const ip = (...args: string[]) => execFileSync('ip', ['-n', name, ...args]);
const path = () => `/run/netns/${name}`;
const lines = (count: number): KernelOp[] =>
  Array.from({ length: count }, (_, i) => ({
    op: 'route.put',
    route: route({ dst: parseCidr(`10.${i >> 8}.${i & 255}.0/24`), type: 'blackhole' }),
  }));

describe('the monitor', () => {
  it('tells of what others do, without being asked', async () => {
    await using netlink = startNetlink({ ownNetns: path() });
    const { promise, resolve } = Promise.withResolvers<NetlinkEvent>();
    netlink.watch((events) => {
      for (const event of events) if (event.kind === 'rule') resolve(event);
    });
    await netlink.read({});
    ip('rule', 'add', 'fwmark', '0x1003', 'lookup', '100003', 'prio', '2000', 'protocol', '85');
    expect(await promise).toEqual({
      kind: 'rule',
      change: 'new',
      rule: { family: 4, priority: 2000, fwmark: 0x1003, table: 100_003, protocol: 85 },
    });
  });

  it('says that something was lost when the buffer is too small, and goes on', async () => {
    using kernel = new LinuxKernel(addon, { ownNetns: path() });
    const kinds: string[] = [];
    let heard = Promise.withResolvers<void>();
    const listener = (events: readonly NetlinkEvent[]): void => {
      kinds.push(...events.map(({ kind }) => kind));
      heard.resolve();
    };
    using _ = kernel.watch(listener, 4096);
    // In one turn of this thread, so that nobody reads meanwhile.
    expect(kernel.netns().apply(lines(2000))).toEqual([]);
    await heard.promise;
    expect(kinds).toContain('lost');
    kinds.length = 0;
    heard = Promise.withResolvers();
    ip('rule', 'add', 'fwmark', '1', 'lookup', '7');
    await heard.promise;
    expect(kinds).toEqual(['rule']);
  });

  it('keeps what happens while the thread does something else', async () => {
    using kernel = new LinuxKernel(addon, { ownNetns: path() });
    const seen: NetlinkEvent[] = [];
    using monitor = kernel.watch((events) => seen.push(...events));
    expect(kernel.netns().apply(lines(5000))).toEqual([]);
    monitor.drain();
    expect(seen.filter(({ kind }) => kind === 'route')).toHaveLength(5000);
    monitor.drain();
    expect(seen).toHaveLength(5000);
  });

  it('names the link of what is told of it, also when it is gone again', async () => {
    using kernel = new LinuxKernel(addon, { ownNetns: path() });
    const seen: NetlinkEvent[] = [];
    using monitor = kernel.watch((events) => seen.push(...events));
    ip('link', 'add', 'br1', 'type', 'bridge');
    ip('address', 'add', '10.0.0.1/24', 'dev', 'br1');
    ip('link', 'delete', 'br1');
    monitor.drain();
    const addresses = seen.flatMap((event) => (event.kind === 'address' ? [event.address.link] : []));
    expect(addresses).toEqual(['br1', 'br1']);
  });

  it('can be begun and ended many times, and by an end of the thread', async () => {
    using kernel = new LinuxKernel(addon, { ownNetns: path() });
    for (let i = 0; i < 50; i++) kernel.watch(() => {})[Symbol.dispose]();
    for (let i = 0; i < 5; i++) {
      const netlink = startNetlink({ ownNetns: path() });
      netlink.watch(() => {});
      await netlink.read({ links: true });
      await netlink.close();
    }
  });
});
