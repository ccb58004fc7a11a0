import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readdirSync, readlinkSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { decodeLink } from '../link/codec.ts';
import { route } from '../route/types.ts';
import { parseDatagram } from '../wire/message.ts';
import { defaultAddonPath, loadAddon } from './addon.ts';
import { LinuxKernel } from './linux.ts';
import type { KernelOp } from './types.ts';

const addon = loadAddon(defaultAddonPath());
const prefix = `udn-test-${randomBytes(4).toString('hex')}`;
const [node, pod] = ['node', 'pod'].map((name) => `${prefix}-${name}`);
const path = (name: string | undefined) => `/run/netns/${name}`;
const own = () => readlinkSync('/proc/thread-self/ns/net');
const ip = (...args: string[]) =>
  JSON.parse(execFileSync('ip', ['-n', `${pod}`, '-j', ...args], { encoding: 'utf8' }) || '[]');

const pair: KernelOp = {
  op: 'link.add',
  link: {
    kind: 'veth',
    name: 'h1',
    mac: parseMac('0e:58:0a:80:01:03'),
    mtu: 1400,
    group: 7,
    peer: { name: 'eth0', mac: parseMac('0a:58:0a:80:01:03'), mtu: 1400, group: 7, netns: path(pod) },
  },
};

let podFd: number;

beforeAll(() => {
  for (const name of [node, pod]) execFileSync('ip', ['netns', 'add', `${name}`]);
  podFd = openSync(path(pod), 'r');
});

afterAll(() => {
  closeSync(podFd);
  for (const name of [node, pod]) execFileSync('ip', ['netns', 'delete', `${name}`]);
});

describe('the addon', () => {
  it('fails as Node does', () => {
    expect(() => addon.readSysctl(podFd, 'ipv6/conf/absent/mtu')).toThrow(
      expect.objectContaining({
        code: 'ENOENT',
        errno: -2,
        syscall: 'open',
        message: expect.stringMatching(/^ENOENT: /),
      }),
    );
    expect(() => addon.openSocket(podFd, 9999, 0, 1000)).toThrow(expect.objectContaining({ syscall: 'socket' }));
    expect(() => addon.setMembership(podFd, 1, true)).toThrow(expect.objectContaining({ code: 'ENOTSOCK' }));
    expect(() => addon.getTxChecksum(-1, 'eth0')).toThrow(expect.objectContaining({ code: 'EBADF' }));
  });

  it('is in its own namespace after every call, also a failed one', () => {
    const home = own();
    const file = openSync('/dev/null', 'r');
    expect(() => addon.openSocket(file, 0, 0, 1000)).toThrow(
      expect.objectContaining({ code: 'EINVAL', syscall: 'setns' }),
    );
    closeSync(file);
    expect(own()).toBe(home);
    expect(() => addon.readSysctl(podFd, 'absent')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    expect(own()).toBe(home);
    closeSync(addon.openSocket(podFd, 0, 0, 1000));
    addon.writeSysctl(podFd, 'ipv4/ip_forward', '1');
    expect(own()).toBe(home);
    expect(addon.readSysctl(podFd, 'ipv4/ip_forward')).toBe('1');
  });

  it.each([['../kernel/hostname'], ['ipv4/../../kernel/hostname'], ['a'.repeat(300)]])(
    'refuses the setting %s',
    (key) => {
      expect(() => addon.readSysctl(-1, key)).toThrow(expect.objectContaining({ code: 'EINVAL' }));
      expect(() => addon.writeSysctl(-1, key, '1')).toThrow(expect.objectContaining({ code: 'EINVAL' }));
    },
  );

  it('refuses arguments of the wrong type', () => {
    const call = addon as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const [name, ...args] of [
      ['openSocket'],
      ['openSocket', 'x', 0, 0, 0],
      ['readSysctl', -1],
      ['readSysctl', -1, 'a\0b'],
      ['readSysctl', -1, 'a'.repeat(5000)],
      ['writeSysctl', -1, 'ipv4/ip_forward', 1],
      ['setMembership', 1, 1, 1],
      ['setTxChecksum', 1, 'eth0', 'on'],
    ] as const) {
      expect(() => call[name]?.(...args), name).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }));
    }
  });

  it('has room for bursts of events, and gets those of its group', () => {
    using kernel = new LinuxKernel(addon, { ownNetns: path(node) });
    const events = addon.openSocket(podFd, 0, 8 << 20, 2000);
    addon.setMembership(events, 1, true);
    expect(kernel.netns().apply([pair])).toEqual([]);
    const buffer = Buffer.alloc(65_536);
    const { answers } = parseDatagram(buffer.subarray(0, readSync(events, buffer)));
    expect(answers.map((answer) => answer.kind === 'data' && decodeLink(answer.payload).name)).toEqual(['eth0']);
    addon.setMembership(events, 1, false);
    expect(kernel.netns().apply([{ op: 'link.delete', name: 'h1' }])).toEqual([]);
    closeSync(events);
  });
});

describe('what is read is what ip(8) reads', () => {
  const flags = (link: { flags: string[] }) => link.flags;

  it('of links, addresses and routes', () => {
    using kernel = new LinuxKernel(addon, { ownNetns: path(node) });
    const there = kernel.netns(path(pod));
    const address = (text: string): KernelOp => ({
      op: 'address.put',
      address: { link: 'eth0', address: parseInterfaceAddress(text) },
    });
    const put = (dst: string, via: string, table: number, metric = 0): KernelOp => ({
      op: 'route.put',
      route: route({ dst: parseCidr(dst), dev: 'eth0', via: parseIp(via), table, metric, mtu: 1300 }),
    });
    expect(kernel.netns().apply([pair, { op: 'link.set', name: 'h1', change: { up: true } }])).toEqual([]);
    expect(
      there.apply([
        { op: 'link.set', name: 'lo', change: { up: true } },
        { op: 'link.set', name: 'eth0', change: { up: true, alias: 'an alias' } },
        address('10.0.0.5/24'),
        address('fd00::5/64'),
        put('0.0.0.0/0', '10.0.0.1', 254),
        put('10.9.0.0/16', '10.0.0.1', 100_003, 7),
        put('::/0', 'fd00::1', 254),
        put('fd09::/64', 'fe80::1', 100_003),
      ]),
    ).toEqual([]);

    expect(there.links().map(({ index, name, mac, mtu, up, alias }) => ({ index, name, mac, mtu, up, alias }))).toEqual(
      ip('link', 'show').map((link: Record<string, never>) => ({
        index: link['ifindex'],
        name: link['ifname'],
        mac: link['address'],
        mtu: link['mtu'],
        up: flags(link as never).includes('UP'),
        alias: link['ifalias'],
      })),
    );
    const theirs: { ifname: string; addr_info: { local: string; prefixlen: number; scope: string }[] }[] = ip(
      'address',
      'show',
    );
    expect(
      there
        .addresses()
        .map(({ link, address: text, scope }) => `${link} ${text} ${scope}`)
        .sort(),
    ).toEqual(
      theirs
        .flatMap(({ ifname, addr_info }) =>
          addr_info.map((one) => `${ifname} ${one.local}/${one.prefixlen} ${one.scope}`),
        )
        .sort(),
    );
    for (const family of [4, 6] as const) {
      for (const table of [254, 255, 100_003]) {
        const mine = there
          .routes({ family, table })
          .map(({ dst, via, dev, metric }) => [dst, via, dev, metric].join(' '));
        const lines: { dst: string; gateway?: string; dev?: string; metric?: number }[] = ip(
          `-${family}`,
          'route',
          'show',
          'table',
          `${table}`,
        );
        expect(mine).toEqual(
          lines.map(({ dst, gateway, dev, metric = 0 }) => [withLength(dst, family), gateway, dev, metric].join(' ')),
        );
        expect(mine.length).toBeGreaterThan(0);
      }
    }
    expect(kernel.netns().apply([{ op: 'link.delete', name: 'h1' }])).toEqual([]);
  });

  const withLength = (dst: string, family: 4 | 6): string => {
    if (dst === 'default') return family === 4 ? '0.0.0.0/0' : '::/0';
    return dst.includes('/') ? dst : `${dst}/${family === 4 ? 32 : 128}`;
  };
});

describe('a namespace', () => {
  it('is none when the file is only a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'udn-test-'));
    const file = join(folder, 'stale');
    writeFileSync(file, '');
    using kernel = new LinuxKernel(addon, { ownNetns: path(node) });
    expect(() => kernel.netns(file)).toThrow(expect.objectContaining({ code: 'EINVAL' }));
    expect(() => kernel.netns(join(file, 'x'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
    rmSync(folder, { recursive: true });
  });

  it('is the one of the process without a path', () => {
    using kernel = new LinuxKernel(addon);
    expect(kernel.netns().link('lo')?.index).toBe(1);
    expect(kernel.netns().sysctl('ipv4/ip_forward')).toBe(
      execFileSync('cat', ['/proc/sys/net/ipv4/ip_forward'], { encoding: 'utf8' }).trim(),
    );
  });

  it('lets go of others, so that they can vanish', () => {
    using kernel = new LinuxKernel(addon, { ownNetns: path(node) });
    const ofPod = () => readdirSync('/proc/self/fd').filter((fd) => targetOf(fd) === targetOf(`${podFd}`)).length;
    const before = ofPod();
    kernel.netns(path(pod)).links();
    expect(ofPod()).toBe(before + 1);
    kernel.release();
    expect(ofPod()).toBe(before);
  });

  /** Undefined for a descriptor that is closed by now. */
  const targetOf = (fd: string): string | undefined => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return undefined;
    }
  };
});

describe('deleting a group', () => {
  it('takes all of it, does not stop other calls, and has no need of any', async () => {
    using kernel = new LinuxKernel(addon, { ownNetns: path(node) });
    const host = kernel.netns();
    const pairs = [1, 2, 3].map((n): KernelOp => {
      if (pair.op !== 'link.add') throw new Error('not a pair');
      return { op: 'link.add', link: { ...pair.link, name: `h${n}`, peer: { ...pair.link.peer, name: `p${n}` } } };
    });
    expect(host.apply(pairs)).toEqual([]);
    expect(host.apply([{ op: 'link.set', name: 'h3', change: { group: 8 } }])).toEqual([]);
    const deleted = kernel.deleteGroup(7);
    const again = kernel.deleteGroup(7);
    expect(host.link('h3')?.group).toBe(8);
    await Promise.all([deleted, again]);
    expect(host.links().map(({ name }) => name)).toEqual(['lo', 'h3']);
    await kernel.deleteGroup(7);
    await kernel.deleteGroup(8);
    expect(host.links().map(({ name }) => name)).toEqual(['lo']);
  });
});
