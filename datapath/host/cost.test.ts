/** What a change costs does not grow with what is there. */
import { expect, it } from 'vitest';
import { parseIp } from '../../net/ip.ts';
import { FakeKernel } from '../netlink/fake/fake-kernel.ts';
import { fakeNetlink } from '../netlink/fake/fake-netlink.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import type { Query } from '../netlink/netlink.ts';
import { bridgeItems, bridgeOps, networkItems, portItems, portOps, routeTo } from './host-world.suite.ts';
import { HostKeeper } from './keeper.suite.ts';

const newWorld = async () => {
  const kernel = new FakeKernel();
  const netlink = fakeNetlink(kernel);
  const reads: Query[] = [];
  const ops: KernelOp[] = [];
  kernel.netns().apply([...bridgeOps, ...portOps]);
  const keeper = new HostKeeper({
    ...netlink,
    read: (query, signal) => {
      reads.push(query);
      return netlink.read(query, signal);
    },
    apply: (changes, signal) => {
      ops.push(...changes.ops);
      return netlink.apply(changes, signal);
    },
  });
  const many = Array.from({ length: 300 }, (_, i) =>
    routeTo(`10.200.${i & 255}.${i >> 8}/32`, { dev: 'br-ex', via: parseIp('172.18.0.1'), table: 7 }),
  );
  await keeper.want(...bridgeItems, ...many).full();
  await keeper.settle();
  reads.length = 0;
  ops.length = 0;
  return { kernel, keeper, reads, ops };
};

it('reads nothing and writes one thing when one more route is wanted', async () => {
  const { keeper, reads, ops } = await newWorld();
  await keeper.want(routeTo('10.201.0.0/16', { dev: 'br-ex', via: parseIp('172.18.0.1') })).settle();
  expect(reads).toEqual([]);
  expect(ops.map(({ op }) => op)).toEqual(['route.put']);
});

it('reads nothing and writes one thing when one route is gone', async () => {
  const { kernel, keeper, reads, ops } = await newWorld();
  const route = routeTo('10.200.7.0/32', { dev: 'br-ex', via: parseIp('172.18.0.1'), table: 7 });
  if (route.kind === 'route') kernel.netns().apply([{ op: 'route.delete', route: route.route }]);
  await keeper.settle();
  expect(reads).toEqual([]);
  expect(ops.map(({ op }) => op)).toEqual(['route.put']);
});

it('reads only settings, and only those of a network that comes', async () => {
  const { keeper, reads, ops } = await newWorld();
  await keeper.want(...networkItems).settle();
  expect(reads.filter(({ links, addresses, rules }) => links ?? addresses ?? rules)).toEqual([]);
  expect(reads.flatMap(({ routes = [] }) => routes).filter(({ table }) => table === 7)).toEqual([]);
  // As many as things, but for the VRF: it takes one more to name it.
  expect(ops).toHaveLength(networkItems.length + 1);
});

it('sees a link that comes while other things are written', async () => {
  const kernel = new FakeKernel();
  const netlink = fakeNetlink(kernel);
  kernel.netns().apply(bridgeOps);
  let isHere = false;
  const keeper = new HostKeeper({
    ...netlink,
    apply: (changes, signal) => {
      if (!isHere) kernel.netns().apply(portOps);
      isHere = true;
      return netlink.apply(changes, signal);
    },
  });
  await keeper.full();
  const route = routeTo('10.201.0.0/16', { dev: 'br-ex', via: parseIp('172.18.0.1') });
  await keeper.want(route, ...portItems(7)).settle();
  expect(isHere).toBe(true);
  expect(await keeper.differences()).toEqual([]);
});
