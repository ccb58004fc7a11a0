import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeKernel } from '../../datapath/netlink/fake/fake-kernel.ts';
import { fakeNetlink } from '../../datapath/netlink/fake/fake-netlink.ts';
import { parseMac } from '../../net/mac.ts';
import { rememberingSysctls, restoreGuarded, restoreSysctls } from './sysctl-ledger.ts';

let folder: string;
const { signal } = new AbortController();
const KEY = 'ipv6/conf/br-ex/accept_ra';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-'));
});
afterEach(() => rm(folder, { recursive: true }));

const newNode = () => {
  const kernel = new FakeKernel();
  const end = { mac: parseMac('02:00:00:00:00:01'), mtu: 1500, group: 0 };
  const link = { kind: 'veth', name: 'br-ex', ...end, peer: { ...end, name: 'p', netns: undefined } } as const;
  kernel.netns().apply([{ op: 'link.add', link }]);
  const path = join(folder, 'run', 'sysctls.jsonl');
  return { kernel, path, netlink: fakeNetlink(kernel), value: () => kernel.netns().sysctl(KEY) };
};

it('gives back what a setting was before the first change, also of an earlier process', async () => {
  const { netlink, path, value } = newNode();
  expect(value()).toBe('1');
  for (const desired of ['0', '2']) {
    await rememberingSysctls(netlink, path).apply({ ops: [{ op: 'sysctl.set', key: KEY, value: desired }] });
    expect(value()).toBe(desired);
  }
  await restoreSysctls(netlink, path, signal);
  expect(value()).toBe('1');
  await netlink.apply({ ops: [{ op: 'sysctl.set', key: KEY, value: '2' }] });
  await restoreSysctls(netlink, path, signal);
  expect(value()).toBe('2');
});

it('gives back what nftables guard by itself, and the rest later', async () => {
  const { kernel, netlink, path, value } = newNode();
  const guarded = 'ipv4/conf/br-ex/route_localnet';
  const before = kernel.netns().sysctl(guarded);
  for (const [key, desired] of [
    [KEY, '0'],
    [guarded, '1'],
  ] as const)
    await rememberingSysctls(netlink, path).apply({ ops: [{ op: 'sysctl.set', key, value: desired }] });
  await restoreGuarded(netlink, path, signal);
  expect([value(), kernel.netns().sysctl(guarded)]).toEqual(['0', before]);
  await restoreSysctls(netlink, path, signal);
  expect(value()).toBe('1');
});

it('lives with a link that is gone and a line that is cut off', async () => {
  const { kernel, netlink, path } = newNode();
  await rememberingSysctls(netlink, path).apply({ ops: [{ op: 'sysctl.set', key: KEY, value: '0' }] });
  await writeFile(path, '{"key":"ipv6/co', { flag: 'a' });
  kernel.netns().apply([{ op: 'link.delete', name: 'br-ex' }]);
  await restoreSysctls(netlink, path, signal);
});

it('refuses no change of a setting that the kernel does not have', async () => {
  const { netlink, path } = newNode();
  const ops = [{ op: 'sysctl.set', key: 'ipv6/conf/none/accept_ra', value: '0', ifPresent: true } as const];
  expect(await rememberingSysctls(netlink, path).apply({ ops })).toEqual([]);
});
