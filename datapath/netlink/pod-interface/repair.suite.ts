import { expect, it } from 'vitest';
import { DYING_LINK_GROUP } from '../../../api/pod-links.ts';
import { parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import type { KernelOp } from '../kernel/types.ts';
import { route } from '../route/types.ts';
import { addressesIn, firstOf, linkIn, pairOf, stateOf } from './pod-state.suite.ts';
import type { PodWorld } from './pod-world.suite.ts';
import type { PodInterface, PodNetwork } from './types.ts';

const inPod = (...ops: KernelOp[]) => ({ pod: ops, node: [] });
const onNode = (...ops: ((one: PodInterface) => KernelOp)[]) => ({ pod: [], node: ops });
const address = (text: string) => ({ link: 'eth0', address: parseInterfaceAddress(text) });
const cluster = { dst: parseCidr('10.128.0.0/14'), dev: 'eth0', via: parseIp('10.128.1.1') };
const gone = { dst: parseCidr('10.250.0.0/16'), dev: 'eth0', via: parseIp('10.128.1.1') };

const DISTURBANCES: Readonly<
  Record<string, { pod: readonly KernelOp[]; node: readonly ((one: PodInterface) => KernelOp)[] }>
> = {
  'the node’s end gone': onNode(({ hostName }) => ({ op: 'link.delete', name: hostName })),
  'the pod’s end gone': inPod({ op: 'link.delete', name: 'eth0' }),
  'the node’s end down': onNode(({ hostName }) => ({ op: 'link.set', name: hostName, change: { up: false } })),
  'the pod’s end down': inPod({ op: 'link.set', name: 'eth0', change: { up: false } }),
  'the loopback down': inPod({ op: 'link.set', name: 'lo', change: { up: false } }),
  'another MTU on the node': onNode(({ hostName }) => ({ op: 'link.set', name: hostName, change: { mtu: 1500 } })),
  'another MTU in the pod': inPod({ op: 'link.set', name: 'eth0', change: { mtu: 1500 } }),
  'an MTU too small for IPv6': inPod({ op: 'link.set', name: 'eth0', change: { mtu: 1000 } }),
  'another MAC in the pod': inPod({ op: 'link.set', name: 'eth0', change: { mac: parseMac('0a:58:0a:80:01:04') } }),
  'another MAC on the node': onNode(({ hostName }) => ({
    op: 'link.set',
    name: hostName,
    change: { mac: parseMac('0e:58:0a:80:01:04') },
  })),
  'an alias of before': onNode(({ hostName }) => ({
    op: 'link.set',
    name: hostName,
    change: { alias: 'ovn-udn:old' },
  })),
  'no group': onNode(({ hostName }) => ({ op: 'link.set', name: hostName, change: { group: 0 } })),
  'a removal that was interrupted': onNode(({ hostName }) => ({
    op: 'link.set',
    name: hostName,
    change: { group: DYING_LINK_GROUP },
  })),
  'IPv6 addresses on the node’s end': onNode(({ hostName }) => ({
    op: 'link.addrGenMode',
    name: hostName,
    mode: 'eui64',
  })),
  'no IPv4 address': inPod({ op: 'address.delete', address: address('10.128.1.3/24') }),
  'no IPv6 address': inPod({ op: 'address.delete', address: address('fd00:10:128:1::3/64') }),
  'more addresses': inPod(
    { op: 'address.put', address: address('10.128.1.4/24') },
    { op: 'address.put', address: address('10.99.0.4/24') },
    { op: 'address.put', address: address('fd77::4/64') },
  ),
  'other prefix lengths': inPod(
    ...['10.128.1.3/24', 'fd00:10:128:1::3/64'].map(
      (text): KernelOp => ({ op: 'address.delete', address: address(text) }),
    ),
    ...['10.128.1.3/20', 'fd00:10:128:1::3/80'].map(
      (text): KernelOp => ({ op: 'address.put', address: address(text) }),
    ),
  ),
  'no route': inPod({ op: 'route.delete', route: route(cluster) }),
  'a route of before': inPod({ op: 'route.put', route: route(gone) }),
  'a route by another way': inPod({ op: 'route.put', route: route({ ...cluster, via: parseIp('10.128.1.9') }) }),
  'a route of somebody else in its place': inPod({ op: 'route.put', route: route({ ...cluster, protocol: 4 }) }),
  'router advertisements accepted': inPod({ op: 'sysctl.set', key: 'ipv6/conf/eth0/accept_ra', value: '1' }),
  'IPv6 off': inPod({ op: 'sysctl.set', key: 'ipv6/conf/eth0/disable_ipv6', value: '1' }),
  'no checksum offload': inPod({ op: 'link.txChecksum', name: 'eth0', on: false }),
  'checksum offload': inPod({ op: 'link.txChecksum', name: 'ovn-udn1', on: true }),
};

export const repairCases = ({ netlink, dualStackPod, look, disturb, newNetns }: PodWorld): void => {
  /** With the link-local addresses, which the kernel adds when its link watch has seen the carrier: within a second or so. */
  const settledState = async (desired: PodNetwork) =>
    await eventually(async () => {
      const state = stateOf(desired, await look(desired));
      expect(state.addresses.filter((one) => one.endsWith(' link'))).toHaveLength(desired.interfaces.length);
      return state;
    });

  it.each(Object.entries(DISTURBANCES))('repairs %s', async (_, { pod, node }) => {
    const desired = dualStackPod();
    await netlink().pods.ensure(desired);
    const before = await settledState(desired);
    await disturb(undefined, ...node.flatMap((op) => desired.interfaces.slice(0, 1).map(op)));
    await disturb(desired.netns, ...pod);
    expect(await netlink().pods.ensure(desired)).toBe('repaired');
    await eventually(async () => expect(stateOf(desired, await look(desired))).toEqual(before));
    expect(await netlink().pods.ensure(desired)).toBe('unchanged');
  });

  it('leaves alone what somebody else put into the pod', async () => {
    const desired = dualStackPod();
    await netlink().pods.ensure(desired);
    const foreign = route({ dst: parseCidr('10.250.0.0/16'), dev: 'eth0', protocol: 4 });
    await disturb(desired.netns, { op: 'route.put', route: foreign });
    expect(await netlink().pods.ensure(desired)).toBe('unchanged');
    expect((await look(desired)).pod.routes).toContainEqual(foreign);
  });

  it('completes what was interrupted after the first step', async () => {
    const desired = dualStackPod();
    const first = firstOf(desired);
    await disturb(undefined, pairOf(first, desired.netns));
    expect(await netlink().pods.ensure(desired)).toBe('repaired');
    expect(await netlink().pods.check(desired)).toEqual([]);
  });

  it('makes a pair again whose other end is in another namespace', async () => {
    const desired = dualStackPod();
    const elsewhere = await newNetns();
    await disturb(undefined, ...desired.interfaces.map((one) => pairOf(one, elsewhere)));
    expect(await netlink().pods.ensure(desired)).toBe('repaired');
    expect(await netlink().pods.check(desired)).toEqual([]);
    expect((await netlink().read({ netns: elsewhere, links: true })).links.map(({ name }) => name)).toEqual(['lo']);
  });

  it('makes a pair again whose end on the node had another name', async () => {
    const desired = dualStackPod();
    const first = firstOf(desired);
    await disturb(undefined, pairOf({ ...first, hostName: 'before' }, desired.netns));
    expect(await netlink().pods.ensure(desired)).toBe('repaired');
    expect(linkIn((await look(desired)).node, 'before')).toBeUndefined();
  });

  it('follows changes of the desired state', async () => {
    const desired = dualStackPod();
    await netlink().pods.ensure(desired);
    const changed = {
      ...desired,
      interfaces: desired.interfaces.map((one) => ({
        ...one,
        mtu: 1350,
        addresses: one.addresses.map((text) => parseInterfaceAddress(text.replace('3/', '7/'))),
      })),
    };
    expect(await netlink().pods.ensure(changed)).toBe('repaired');
    expect(await netlink().pods.check(changed)).toEqual([]);
    expect(addressesIn((await look(changed)).pod)).toContain('eth0 10.128.1.7/24 valid');
    expect(addressesIn((await look(changed)).pod)).not.toContain('eth0 10.128.1.3/24 valid');
  });
};
