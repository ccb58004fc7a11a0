/** Whatever is changed of what is ours, taken away or added to it: the comparison finds it, by its key, and repairs it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { interfaceAddress, parseCidr } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { macFromIp, parseMac } from '../../net/mac.ts';
import { FakeKernel } from '../netlink/fake/fake-kernel.ts';
import { fakeNetlink } from '../netlink/fake/fake-netlink.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import { route } from '../netlink/route/types.ts';
import { kernelRule } from './assessment.ts';
import { bridgeItems, bridgeOps, networkItems, PORT, portOps, set, TABLE } from './host-world.suite.ts';
import { HostKeeper } from './keeper.suite.ts';
import { type HostItem, hostItemKey } from './types.ts';
import { vrfRule } from './vrf-rules.ts';

const items: readonly HostItem[] = [...bridgeItems, ...networkItems];
const OTHER_MAC = parseMac('0a:00:00:00:00:77');

/** Each leaves the thing otherwise than it was, or away. */
const mutationsOf = (item: HostItem): KernelOp[] => {
  switch (item.kind) {
    case 'link': {
      const { name } = item.link;
      if (item.link.kind === 'vrf') {
        return [
          ...[set(name, { up: false }), set(name, { alias: 'mine' }), { op: 'link.delete', name } as const],
          ...([4, 6] as const).map((family): KernelOp => ({ op: 'rule.delete', rule: vrfRule(family) })),
        ];
      }
      const { mac, mtu, master } = item.link;
      return [
        set(name, { up: false }),
        ...(mac === undefined ? [] : [set(name, { mac: OTHER_MAC })]),
        ...(mtu === undefined ? [] : [set(name, { mtu: mtu + 4 })]),
        ...(master === undefined ? [] : [set(name, { master: null })]),
        { op: 'link.delete', name },
      ];
    }
    case 'address': {
      const { link, address, deprecated = false } = item.address;
      return [
        { op: 'address.delete', address: { link, address } },
        ...(address.includes(':')
          ? [{ op: 'address.put', address: { link, address, deprecated: !deprecated } } as const]
          : []),
      ];
    }
    case 'route': {
      const { mtu = 1400, ...rest } = item.route;
      return [
        { op: 'route.delete', route: item.route },
        { op: 'route.put', route: { ...rest, mtu: mtu + 1 } },
        { op: 'route.put', route: { ...item.route, protocol: 4 } },
        { op: 'route.put', route: route({ dst: rest.dst, table: rest.table, metric: rest.metric, type: 'blackhole' }) },
      ];
    }
    case 'rule': {
      const rule = kernelRule(item.rule);
      return typeof rule === 'string' ? [] : [{ op: 'rule.delete', rule }];
    }
    case 'neighbour':
      return [
        { op: 'neighbour.delete', neighbour: item.neighbour },
        { op: 'neighbour.put', neighbour: { ...item.neighbour, mac: OTHER_MAC } },
      ];
    case 'sysctl':
      return [{ op: 'sysctl.set', key: item.sysctl.key, value: item.sysctl.value === '1' ? '0' : '1' }];
    case 'filter':
      // The events of nftables report them, not the kernel's events about links.
      return [];
  }
};

const mutation = fc
  .constantFrom(...items)
  .chain((item) => fc.record({ key: fc.constant(hostItemKey(item)), op: fc.constantFrom(...mutationsOf(item)) }));

const byte = fc.integer({ min: 1, max: 250 });
/** Ours by its mark or its place, and desired by no owner. */
const addition = fc.oneof(
  fc.tuple(byte, fc.constantFrom(254, 7, TABLE, TABLE + 5)).map(([n, table]) => ({
    key: `route ${table} 198.18.${n}.0/24 0`,
    op: { op: 'route.put', route: route({ dst: parseCidr(`198.18.${n}.0/24`), table, type: 'unreachable' }) } as const,
  })),
  fc.tuple(byte, fc.constantFrom(30, 2000)).map(([n, priority]) => ({
    key: `rule IPv4 ${priority}: fwmark 0x${(n + 0x9000).toString(16)} lookup ${n}`,
    op: { op: 'rule.put', rule: { family: 4, priority, fwmark: n + 0x9000, table: n, protocol: 85 } } as const,
  })),
  byte.map((n) => ({
    key: `address ${PORT} 198.18.${n}.9/24`,
    op: {
      op: 'address.put',
      address: { link: PORT, address: interfaceAddress(parseIp(`198.18.${n}.9`), 24) },
    } as const,
  })),
  fc.tuple(byte, fc.constantFrom(PORT, 'br-ex')).map(([n, link]) => {
    const address = parseIp(`169.254.1.${n}`);
    const mac = link === PORT ? OTHER_MAC : macFromIp(address);
    const op: KernelOp = { op: 'neighbour.put', neighbour: { link, address, mac } };
    return { key: `neighbour ${link} ${address}`, op };
  }),
);

const rightWorld = async () => {
  const kernel = new FakeKernel();
  kernel.netns().apply([...bridgeOps, ...portOps]);
  const keeper = new HostKeeper(fakeNetlink(kernel));
  await keeper.want(...items).full();
  await keeper.settle();
  expect(await keeper.differences()).toEqual([]);
  return { kernel, keeper };
};

it('a change of anything is found by its key, also by one who has heard no event, and undone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(mutation, addition), async ({ key, op }) => {
      const { kernel, keeper } = await rightWorld();
      await keeper.backend.close();
      expect(kernel.netns().apply([op])).toEqual([]);
      const found = await keeper.differences();
      expect(found.map((text) => text.replace(/^\w+ /, ''))).toContain(key);
      const later = new HostKeeper(keeper.netlink);
      // What others made is not ours to make again.
      if (op.op === 'link.delete') kernel.netns().apply([...bridgeOps, ...portOps]);
      await later.want(...items).full();
      await later.settle();
      expect(await later.differences()).toEqual([]);
      expect((await later.full()).written).toBe(0);
      await later.backend.close();
    }),
    { numRuns: 200 },
  );
});

it('what others have beside it is not taken for ours', async () => {
  const { kernel, keeper } = await rightWorld();
  const foreign = fc.tuple(byte, byte).map(([n, protocol]): KernelOp[] => [
    {
      op: 'route.put',
      route: route({
        dst: parseCidr(`198.19.${n}.0/24`),
        table: TABLE,
        type: 'unreachable',
        protocol: protocol === 85 ? 4 : protocol,
      }),
    },
    { op: 'rule.put', rule: { family: 4, priority: 3000 + n, fwmark: n, table: n, protocol: 85 } },
    { op: 'address.put', address: { link: 'br-ex', address: interfaceAddress(parseIp(`198.19.${n}.9`), 24) } },
    { op: 'neighbour.put', neighbour: { link: 'br-ex', address: parseIp(`198.19.${n}.7`), mac: OTHER_MAC } },
    // As routing daemons put a router's for BGP without addresses.
    { op: 'neighbour.put', neighbour: { link: 'br-ex', address: parseIp(`169.254.2.${n}`), mac: OTHER_MAC } },
  ]);
  await fc.assert(
    fc.asyncProperty(foreign, async (ops) => {
      expect(kernel.netns().apply(ops)).toEqual([]);
      expect(await keeper.differences()).toEqual([]);
      expect((await keeper.full()).written).toBe(0);
    }),
    { numRuns: 50 },
  );
});
