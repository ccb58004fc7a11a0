import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseCidr } from '../../../net/cidr.ts';
import { defaultAddonPath, loadAddon } from '../kernel/addon.ts';
import { LinuxKernel } from '../kernel/linux.ts';
import type { KernelOp } from '../kernel/types.ts';
import { route } from '../route/types.ts';
import { startNetlink } from '../worker/client.ts';
import { netlinkService } from '../worker/service.ts';
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
  it('reports what others do, without being asked', async () => {
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

  it('names the link of an event, also when it is gone again', async () => {
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

  it('is not ahead of a reading: the routes that go with an address are gone when they are read after it', async () => {
    using kernel = new LinuxKernel(addon, { ownNetns: path() });
    const { read } = netlinkService(kernel);
    // The kernel looks at all routes, the highest first, for those to take: it is some time until it comes to ours.
    const many = Array.from({ length: 60_000 }, (_, i) => `route add blackhole 200.${i >> 8}.${i & 255}.0/24\n`);
    execFileSync('ip', ['-n', name, '-batch', '-'], { input: many.join('') });
    ip('link', 'add', 'v1', 'type', 'veth', 'peer', 'name', 'v2');
    for (const end of ['v1', 'v2']) ip('link', 'set', end, 'up');
    let isGone = false;
    using monitor = kernel.watch((events) => {
      isGone ||= events.some(({ kind, ...rest }) => kind === 'address' && 'change' in rest && rest.change === 'gone');
    });
    for (let i = 0; i < 60; i++) {
      ip('address', 'add', '10.9.0.2/24', 'dev', 'v1');
      ip('route', 'add', '10.5.0.0/16', 'via', '10.9.0.1', 'dev', 'v1', 'proto', '85');
      monitor.drain();
      isGone = false;
      const ended = once(spawn('ip', ['-n', name, 'address', 'del', '10.9.0.2/24', 'dev', 'v1']), 'exit');
      // Without a turn of the event loop in between, as that takes longer than what is looked for.
      while (!isGone) monitor.drain();
      expect(read({ routes: [{ family: 4, table: 254, protocol: 85 }] }).routes).toEqual([]);
      await ended;
    }
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
