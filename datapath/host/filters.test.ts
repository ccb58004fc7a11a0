import { describe, expect, it } from 'vitest';
import { FakeKernel } from '../netlink/fake/fake-kernel.ts';
import { fakeNetlink } from '../netlink/fake/fake-netlink.ts';
import { fakeHarness } from '../netlink/harness.suite.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import { FILTER, filterSuite } from './filters.suite.ts';
import { link, PORT, portOps } from './host-world.suite.ts';
import { HostKeeper } from './keeper.suite.ts';
import type { HostItem } from './types.ts';

filterSuite('fake', fakeHarness);

it('reports what the kernel does not support, and all else converges', async () => {
  const kernel = new FakeKernel();
  const netlink = fakeNetlink(kernel);
  await netlink.apply({ ops: portOps });
  kernel.failOnce('ENOTSUP', ({ op }) => op === 'filter.put');
  const keeper = new HostKeeper(netlink);
  const { failed, unsupported } = await keeper.want(FILTER, link(PORT)).full();
  expect(failed).toEqual(new Map());
  expect(unsupported?.get(`filter ${PORT}`)).toContain('CONFIG_IP_ROUTE_CLASSID');
  expect(await keeper.differences()).toEqual([`missing filter ${PORT}`]);
  await keeper.backend.close();
});

it('a port is filtered before it is up', async () => {
  const kernel = new FakeKernel();
  const netlink = fakeNetlink(kernel);
  await netlink.apply({ ops: portOps });
  kernel.failOnce('EPERM', ({ op }) => op === 'link.set');
  const keeper = new HostKeeper(netlink);
  const { failed } = await keeper.want(link(PORT), FILTER).full();
  expect([...failed.keys()]).toEqual([`link ${PORT}`]);
  expect((await netlink.read({ filters: true })).filters.digests.has(PORT)).toBe(true);
  await keeper.backend.close();
});

describe('the rules that ports share', () => {
  const OTHER_PORT = 'ovn-k8s-mp4';
  const OTHER: HostItem = { kind: 'filter', filter: { ...FILTER.filter, link: OTHER_PORT } };
  const otherPort: KernelOp = { op: 'master.add', master: { kind: 'bridge', name: OTHER_PORT } };

  const filtered = async () => {
    const kernel = new FakeKernel();
    const netlink = fakeNetlink(kernel);
    await netlink.apply({ ops: [...portOps, otherPort] });
    const keeper = new HostKeeper(netlink);
    await keeper.want(FILTER).settle();
    return { kernel, netlink, keeper };
  };

  it('are not put again for one more port', async () => {
    const { kernel, keeper } = await filtered();
    kernel.failOnce('EPERM', (op) => op.op === 'filter.put' && op.withShared === true);
    const { failed, written } = await keeper.want(FILTER, OTHER).full();
    expect([failed, written]).toEqual([new Map(), 1]);
    await keeper.backend.close();
  });

  it('are put again when somebody has flushed them', async () => {
    const { kernel, netlink, keeper } = await filtered();
    kernel.netns().loseSharedRules();
    keeper.backend.loseFilters();
    expect(await keeper.settle()).toBe(1);
    expect([...(await netlink.read({ filters: true })).filters.shared.values()]).toEqual([true]);
    await keeper.backend.close();
  });
});
