/** What planning may rely on: how links, addresses, routes and settings act on each other. */
import { describe, expect, it } from 'vitest';
import { defaultRoute, parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { filterCases, lockedPodCases } from '../frame-filter/filters.suite.ts';
import type { Harness } from '../harness.suite.ts';
import { route } from '../route/types.ts';
import {
  deleteRoute,
  type KernelWorld,
  kernelWorld,
  MAIN_ROUTES,
  put,
  putRoute,
  remove,
  to,
  up,
} from './kernel-world.suite.ts';
import type { KernelOp } from './types.ts';

export const kernelSuite = (name: string, open: () => Promise<Harness>): void => {
  describe(`${name} as a kernel`, () => {
    const world = kernelWorld(open);
    linkCases(world);
    addressCases(world);
    routeCases(world);
    otherCases(world);
    filterCases(world);
    lockedPodCases(world);
  });
};

const linkCases = ({ hostEnd, eth0, node, pod, addPair, hostName, harness, addresses }: KernelWorld): void => {
  it('makes both ends of a veth where they belong', async () => {
    const [host, pod] = [await hostEnd(), await eth0()];
    expect(host).toMatchObject({ kind: 'veth', mac: '0e:58:0a:80:01:03', mtu: 1400, group: 7, up: true });
    expect(pod).toMatchObject({ kind: 'veth', mac: '0a:58:0a:80:01:03', mtu: 1400, group: 8, up: false });
    expect([host?.peer?.index, pod?.peer?.index]).toEqual([pod?.index, host?.index]);
  });

  it('refuses a second link of a name, here and there', async () => {
    expect(await node(addPair())).toEqual(['link.add EEXIST']);
    expect(await node(addPair('other'))).toEqual(['link.add EEXIST']);
    expect((await harness().netlink.read({ links: true })).links.some(({ name }) => name === 'other')).toBe(false);
  });

  it('deletes the other end too, and a link that is not there with success', async () => {
    const gone: KernelOp = { op: 'link.delete', name: 'eth0' };
    expect(await pod(gone, gone)).toEqual([]);
    expect(await hostEnd()).toBeUndefined();
  });

  it('has a carrier when both ends are up', async () => {
    await node({ op: 'link.set', name: hostName(), change: { up: false } });
    await pod(up());
    expect(await eth0()).toMatchObject({ up: true, carrier: false });
    await node({ op: 'link.set', name: hostName(), change: { up: true } });
    expect(await eth0()).toMatchObject({ up: true, carrier: true });
  });

  it('changes what can be changed', async () => {
    const mac = parseMac('0a:58:0a:80:01:04');
    expect(await pod({ op: 'link.set', name: 'eth0', change: { mac, mtu: 1300, alias: 'a b', group: 3 } })).toEqual([]);
    expect(await eth0()).toMatchObject({ mac, mtu: 1300, alias: 'a b', group: 3 });
  });

  it('makes an own IPv6 address or not', async () => {
    expect(await pod({ op: 'link.addrGenMode', name: 'eth0', mode: 'none' }, up())).toEqual([]);
    expect(await addresses()).toEqual([]);
    expect(await eth0()).toMatchObject({ addrGenMode: 'none' });
    await pod(up(false), { op: 'link.addrGenMode', name: 'eth0', mode: 'eui64' }, up());
    await withLinkLocal(addresses, ['fe80::858:aff:fe80:103/64']);
  });
};

/** The kernel makes the link-local address when it learns of the carrier, which it handles late when links change much. */
const withLinkLocal = (addresses: KernelWorld['addresses'], expected: readonly string[]): Promise<void> =>
  expect.poll(() => addresses()).toEqual(expected);

const addressCases = ({ pod, addresses, destinations, routes }: KernelWorld): void => {
  it('has addresses with their networks, put again without a change', async () => {
    const ops = [up(), put('10.0.0.5/24'), put('10.9.0.5/32'), put('fd00::5/64')];
    expect(await pod(...ops, ...ops)).toEqual([]);
    await withLinkLocal(addresses, ['10.0.0.5/24', '10.9.0.5/32', 'fd00::5/64', 'fe80::858:aff:fe80:103/64']);
    expect(await destinations()).toEqual(['10.0.0.0/24 2', 'fd00::/64 2', 'fe80::/64 2']);
    expect((await routes(...MAIN_ROUTES)).find(({ dst }) => dst === '10.0.0.0/24')).toEqual(
      to('10.0.0.0/24', { protocol: 2, src: parseIp('10.0.0.5') }),
    );
  });

  it('keeps the first prefix length of an IPv6 address', async () => {
    await pod(up(), put('fd00::5/64'), put('fd00::5/80'));
    expect((await addresses())[0]).toBe('fd00::5/64');
  });

  it('deletes an address that is not there with success', async () => {
    expect(await pod(remove('10.0.0.5/24'), remove('fd00::5/64'))).toEqual([]);
  });

  it('takes more away with an IPv4 address than the address', async () => {
    await pod(up(), put('10.0.0.5/24'), put('10.0.0.6/24'), put('10.1.0.5/24'), putRoute('10.5.0.0/16'));
    await pod(remove('10.0.0.5/24'));
    await withLinkLocal(addresses, ['10.1.0.5/24', 'fe80::858:aff:fe80:103/64']);
    expect(await destinations()).toEqual(['10.1.0.0/24 2', '10.5.0.0/16 85', 'fe80::/64 2']);
    await pod(remove('10.1.0.5/24'));
    expect(await destinations()).toEqual(['fe80::/64 2']);
  });

  it('keeps other routes when an IPv6 address goes', async () => {
    await pod(up(), put('fd00::5/64'), putRoute('fd01::/64', { via: parseIp('fd00::1') }));
    await pod(remove('fd00::5/64'));
    expect(await destinations()).toEqual(['fd01::/64 85', 'fe80::/64 2']);
  });

  it('loses all but IPv4 addresses when it goes down', async () => {
    await pod(up(), put('10.0.0.5/24'), put('fd00::5/64'), putRoute('10.5.0.0/16'), putRoute('fd01::/64'));
    await pod(up(false));
    expect([await addresses(), await destinations()]).toEqual([['10.0.0.5/24'], []]);
    await pod(up());
    expect(await destinations()).toEqual(['10.0.0.0/24 2', 'fe80::/64 2']);
  });
};

const routeCases = ({ pod, destinations, routes }: KernelWorld): void => {
  it('has routes as they were put', async () => {
    const desired = [
      to('10.5.0.0/16', { via: parseIp('10.0.0.1'), mtu: 1300 }),
      to('10.6.0.0/16', { via: parseIp('10.77.0.1'), onlink: true, metric: 5 }),
      route({ dst: defaultRoute(4), dev: 'eth0', via: parseIp('10.0.0.1'), src: parseIp('10.0.0.5') }),
      route({ dst: parseCidr('10.7.0.0/16'), type: 'unreachable', metric: 4_278_198_272 }),
      to('fd01::/64', { via: parseIp('fe80::1'), mtu: 1300 }),
      route({ dst: defaultRoute(6), dev: 'eth0', via: parseIp('fd00::1') }),
      route({ dst: parseCidr('fd07::/64'), type: 'blackhole' }),
    ];
    const ops = desired.map((each): KernelOp => ({ op: 'route.put', route: each }));
    expect(await pod(up(), put('10.0.0.5/24'), put('fd00::5/64'), ...ops, ...ops)).toEqual([]);
    const got = (await routes(...MAIN_ROUTES)).filter(({ protocol }) => protocol === 85);
    expect(new Set(got)).toEqual(new Set(desired));
  });

  it('replaces a route of the same key and deletes only what it is asked to', async () => {
    await pod(up(), put('10.0.0.5/24'), putRoute('10.5.0.0/16', { via: parseIp('10.0.0.1'), protocol: 4 }));
    expect(await pod(deleteRoute('10.5.0.0/16', { via: parseIp('10.0.0.1') }))).toEqual([]);
    expect(await destinations()).toContain('10.5.0.0/16 4');
    await pod(putRoute('10.5.0.0/16', { via: parseIp('10.0.0.2') }));
    expect((await routes(...MAIN_ROUTES)).filter(({ dst }) => dst === '10.5.0.0/16')).toEqual([
      to('10.5.0.0/16', { via: parseIp('10.0.0.2') }),
    ]);
    expect(await pod(deleteRoute('10.5.0.0/16', { via: parseIp('10.0.0.2') }))).toEqual([]);
    expect(await destinations()).not.toContain('10.5.0.0/16 85');
  });

  it('reads one table at a time, also one that nobody has made', async () => {
    const table = 100_003;
    await pod(up(), putRoute('10.5.0.0/16', { table }), putRoute('fd05::/64', { table }));
    expect(await routes({ family: 4, table }, { family: 6, table })).toEqual([
      to('10.5.0.0/16', { table }),
      to('fd05::/64', { table }),
    ]);
    expect(await routes({ family: 4, table: table + 1 }, { family: 6, table: table + 1 })).toEqual([]);
    expect((await routes(...MAIN_ROUTES)).some((other) => other.table !== 254)).toBe(false);
  });

  it('refuses routes that can not work, and does the others', async () => {
    expect(await pod(putRoute('10.5.0.0/16'))).toEqual(['route.put ENETDOWN']);
    const beyond = { via: parseIp('10.77.0.1') };
    const self = { via: parseIp('fd00::5') };
    expect(
      await pod(
        up(),
        put('10.0.0.5/24'),
        put('fd00::5/64'),
        putRoute('10.5.0.0/16', beyond),
        putRoute('fd06::/64', self),
        putRoute('10.7.0.0/16'),
      ),
    ).toEqual(['route.put ENETUNREACH', 'route.put EINVAL']);
    expect(await destinations()).toContain('10.7.0.0/16 85');
  });
};

const otherCases = ({ pod, read, eth0, addresses, harness }: KernelWorld): void => {
  it('does not find links that are not there', async () => {
    const link = 'absent';
    const address = parseInterfaceAddress('10.0.0.1/24');
    expect(
      await pod(
        { op: 'link.set', name: link, change: { up: true } },
        { op: 'address.put', address: { link, address } },
        putRoute('10.5.0.0/16', { dev: link }),
        { op: 'address.delete', address: { link, address } },
        deleteRoute('10.5.0.0/16', { dev: link }),
      ),
    ).toEqual(['link.set ENODEV', 'address.put ENODEV', 'route.put ENODEV']);
  });

  it('has settings per link and namespace', async () => {
    const key = 'ipv6/conf/eth0/accept_ra';
    expect(await pod({ op: 'sysctl.set', key, value: '2' })).toEqual([]);
    expect((await read([key, 'ipv6/conf/absent/accept_ra'])).sysctls).toEqual(new Map([[key, '2']]));
    const absent = { op: 'sysctl.set', key: 'ipv6/conf/absent/accept_ra', value: '0' } as const;
    expect(await pod(absent, { ...absent, ifPresent: true })).toEqual(['sysctl.set ENOENT']);
  });

  it('has no IPv6 where it is off', async () => {
    const off = (value: string): KernelOp => ({ op: 'sysctl.set', key: 'ipv6/conf/eth0/disable_ipv6', value });
    await pod(up(), put('fd00::5/64'), off('1'));
    expect(await addresses()).toEqual([]);
    expect(await pod(put('fd00::5/64'), putRoute('fd01::/64'))).toEqual(['address.put EACCES', 'route.put EACCES']);
    expect(await pod(off('0'), put('fd00::5/64'))).toEqual([]);
    await withLinkLocal(addresses, ['fd00::5/64', 'fe80::858:aff:fe80:103/64']);
  });

  it('throws IPv6 off a link with a small MTU, settings included', async () => {
    const key = 'ipv6/conf/eth0/accept_ra';
    const mtu = (bytes: number): KernelOp => ({ op: 'link.set', name: 'eth0', change: { mtu: bytes } });
    await pod(up(), put('fd00::5/64'), { op: 'sysctl.set', key, value: '0' }, mtu(1279));
    expect((await read([key])).sysctls.size).toBe(0);
    expect((await eth0())?.addrGenMode).toBeUndefined();
    expect(await pod({ op: 'link.addrGenMode', name: 'eth0', mode: 'none' })).toEqual([]);
    await pod(mtu(1400));
    expect((await read([key])).sysctls.get(key)).toBe('1');
  });

  it('switches checksum offload', async () => {
    expect(await pod({ op: 'link.txChecksum', name: 'eth0', on: false })).toEqual([]);
    expect(await pod({ op: 'link.txChecksum', name: 'absent', on: false })).toEqual(['link.txChecksum ENODEV']);
  });

  it('has no namespace where there is none', async () => {
    await expect(harness().netlink.read({ netns: '/run/netns/absent' })).rejects.toMatchObject({ code: 'ENOENT' });
  });
};
