import { expect, it } from 'vitest';
import { parseCidr } from '../../net/cidr.ts';
import { FakeKernel } from '../netlink/fake/fake-kernel.ts';
import { fakeNetlink } from '../netlink/fake/fake-netlink.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import { decodeRule } from '../netlink/rule/codec.ts';
import type { Rule } from '../netlink/rule/types.ts';
import { HostKeeper } from './keeper.suite.ts';
import { EVERYTHING, Mirror } from './mirror.ts';
import { VRF_ALIAS } from './ownership.ts';
import { VrfRules, vrfRule } from './vrf-rules.ts';
import { actualWords } from './words.ts';

const VRFS = [1, 2, 3].map(
  (n) => ({ kind: 'link', link: { kind: 'vrf', name: `mp${n}-udn-vrf`, table: 1000 + n } }) as const,
);
const [IPV4, IPV6] = [vrfRule(4), vrfRule(6)];

const newWorld = async () => {
  const kernel = new FakeKernel();
  const netlink = fakeNetlink(kernel);
  const ops: KernelOp[] = [];
  const keeper = new HostKeeper({
    ...netlink,
    apply: (changes, signal) => {
      ops.push(...changes.ops);
      return netlink.apply(changes, signal);
    },
  });
  await keeper.want(...VRFS).full();
  await keeper.settle();
  const written = ops.splice(0);
  const rules = () =>
    kernel
      .netns()
      .rules()
      .filter(({ l3mdev }) => l3mdev);
  const remove = (...gone: Rule[]) => kernel.netns().apply(gone.map((rule) => ({ op: 'rule.delete', rule }) as const));
  return { keeper, kernel, ops, written, rules, remove };
};

it('the kernel’s own are awaited, not written', async () => {
  const { written, rules } = await newWorld();
  expect(written.map(({ op }) => op)).toEqual([
    'master.add',
    'link.set',
    'master.add',
    'link.set',
    'master.add',
    'link.set',
  ]);
  expect(rules()).toEqual([IPV4, IPV6]);
});

it('those that another program deletes are added again, by each VRF', async () => {
  const { keeper, ops, rules, remove } = await newWorld();
  remove(IPV4, IPV6);
  await keeper.settle();
  expect(ops).toEqual(VRFS.flatMap(() => [IPV4, IPV6].map((rule) => ({ op: 'rule.put', rule }))));
  expect(rules()).toEqual([IPV4, IPV6]);
  expect(await keeper.differences()).toEqual([]);
});

it('a start finds that they have gone', async () => {
  const { keeper, rules, remove } = await newWorld();
  remove(IPV6);
  await keeper.full();
  expect(rules()).toEqual([IPV4, IPV6]);
});

it('the difference says what a VRF lacks', async () => {
  const { keeper, kernel, remove } = await newWorld();
  remove(IPV6);
  expect(await keeper.differences()).toHaveLength(VRFS.length);
  const mirror = new Mirror();
  mirror.load(await fakeNetlink(kernel).read(EVERYTHING));
  const words = 'link mp1-udn-vrf type vrf table 1001 up without rule IPv6 l3mdev-table';
  expect(actualWords('link mp1-udn-vrf', mirror)).toBe(words);
});

it('one of another priority does as well, and one for some packets does not', async () => {
  const { keeper, kernel, ops, remove } = await newWorld();
  kernel.netns().apply([{ op: 'rule.put', rule: { ...IPV4, priority: 900, protocol: 3 } }]);
  remove(IPV4);
  await keeper.settle();
  expect(ops).toEqual([]);
  kernel.netns().apply([{ op: 'rule.put', rule: { ...IPV6, priority: 900, from: parseCidr('fd00::/64') } }]);
  remove(IPV6);
  await keeper.settle();
  expect(ops).toEqual(VRFS.map(() => ({ op: 'rule.put', rule: IPV6 })));
});

it('neither before the first VRF nor of a family that the node does not have is one missed', () => {
  const vrf = { vrfTable: 1001, alias: VRF_ALIAS } as never;
  const main = { family: 4, priority: 32_766, table: 254, protocol: 2 } as const;
  const rules = new VrfRules();
  rules.load({ links: [], rules: [main] });
  expect(rules.lost()).toEqual([]);
  rules.load({ links: [vrf], rules: [main] });
  expect(rules.lost()).toEqual([4]);
});

/** `ip -4 rule show` of a kernel with VRFs: fib_rule_hdr, FRA_TABLE, FRA_SUPPRESS_PREFIXLEN, FRA_PROTOCOL, FRA_L3MDEV, FRA_PRIORITY. */
it('is read as the kernel writes it', () => {
  const attribute = (type: number, ...bytes: number[]) => [4 + bytes.length, 0, type, 0, ...bytes];
  const bytes = Buffer.from([
    ...[2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
    ...attribute(15, 0, 0, 0, 0),
    ...attribute(14, 0xff, 0xff, 0xff, 0xff),
    ...[...attribute(21, 2), 0, 0, 0],
    ...[...attribute(19, 1), 0, 0, 0],
    ...attribute(6, 0xe8, 3, 0, 0),
  ]);
  expect(decodeRule(bytes)).toEqual(IPV4);
});
