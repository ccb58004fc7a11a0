import { expect, it } from 'vitest';
import { FakeKernel } from '../netlink/fake/fake-kernel.ts';
import { fakeNetlink } from '../netlink/fake/fake-netlink.ts';
import { fakeHarness } from '../netlink/harness.suite.ts';
import { FILTER, filterSuite } from './filters.suite.ts';
import { link, PORT, portOps } from './host-world.suite.ts';
import { HostKeeper } from './keeper.suite.ts';

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
