/** A pod with `eth0`, down, whose other end is up on the node; again for each case of the kernel's conformance suite. */
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseMac } from '../../../net/mac.ts';
import type { Harness } from '../harness.suite.ts';
import type { Link } from '../link/types.ts';
import type { Snapshot } from '../netlink.ts';
import { type Route, route } from '../route/types.ts';
import type { KernelOp, RouteFilter, SysctlKey } from './types.ts';

export interface KernelWorld {
  readonly harness: () => Harness;
  /** Applied to the node; gives `op CODE` of what failed. */
  readonly node: (...ops: KernelOp[]) => Promise<string[]>;
  /** As `node`, in the pod. */
  readonly pod: (...ops: KernelOp[]) => Promise<string[]>;
  /** The operation that makes the pair, or one with another name on the node. */
  readonly addPair: (hostName?: string) => KernelOp;
  readonly hostName: () => string;
  readonly hostEnd: () => Promise<Link | undefined>;
  readonly eth0: () => Promise<Link | undefined>;
  /** Of the pod's main table. */
  readonly read: (sysctls?: readonly SysctlKey[]) => Promise<Snapshot>;
  readonly routes: (...filters: RouteFilter[]) => Promise<readonly Route[]>;
  /** Of eth0, sorted. */
  readonly addresses: () => Promise<string[]>;
  /** Prefix and protocol of routes through eth0, sorted. */
  readonly destinations: () => Promise<string[]>;
}

export const MAIN_ROUTES: readonly RouteFilter[] = [
  { family: 4, table: 254 },
  { family: 6, table: 254 },
];

export const kernelWorld = (open: () => Promise<Harness>): KernelWorld => {
  let harness: Harness;
  let netns: string;
  let pairs = 0;
  const hostName = () => `h${pairs}`;
  const addPair = (name = hostName()): KernelOp => ({
    op: 'link.add',
    link: {
      kind: 'veth',
      name,
      mac: parseMac('0e:58:0a:80:01:03'),
      mtu: 1400,
      group: 7,
      peer: { name: 'eth0', mac: parseMac('0a:58:0a:80:01:03'), mtu: 1400, group: 8, netns },
    },
  });
  const failures = async (where: { netns?: string }, ops: KernelOp[]): Promise<string[]> =>
    (await harness.netlink.apply({ ...where, ops })).map(({ op, error }) => `${op.op} ${error.code}`);
  const read = (sysctls: readonly SysctlKey[] = []): Promise<Snapshot> =>
    harness.netlink.read({ netns, links: true, addresses: true, routes: MAIN_ROUTES, sysctls });

  beforeAll(async () => {
    harness = await open();
  });
  afterAll(async () => harness[Symbol.asyncDispose]());
  beforeEach(async () => {
    netns = await harness.newNetns();
    pairs++;
    const up: KernelOp = { op: 'link.set', name: hostName(), change: { up: true } };
    expect(await failures({}, [addPair(), up])).toEqual([]);
  });

  return {
    harness: () => harness,
    node: (...ops) => failures({}, ops),
    pod: (...ops) => failures({ netns }, ops),
    addPair,
    hostName,
    hostEnd: async () => (await harness.netlink.read({ links: true })).links.find(({ name }) => name === hostName()),
    eth0: async () => (await read()).links.find(({ name }) => name === 'eth0'),
    read,
    routes: async (...filters) => (await harness.netlink.read({ netns, routes: filters })).routes,
    addresses: async () => {
      const onEth0 = (await read()).addresses.filter(({ link }) => link === 'eth0');
      return onEth0.map(({ address }) => address).sort();
    },
    destinations: async () => {
      const throughEth0 = (await read()).routes.filter(({ dev }) => dev === 'eth0');
      return throughEth0.map(({ dst, protocol }) => `${dst} ${protocol}`).sort();
    },
  };
};

export const up = (isUp = true): KernelOp => ({ op: 'link.set', name: 'eth0', change: { up: isUp } });

export const put = (address: string): KernelOp => ({
  op: 'address.put',
  address: { link: 'eth0', address: parseInterfaceAddress(address) },
});

export const remove = (address: string): KernelOp => ({
  op: 'address.delete',
  address: { link: 'eth0', address: parseInterfaceAddress(address) },
});

export const to = (dst: string, fields: Partial<Route> = {}): Route =>
  route({ dst: parseCidr(dst), dev: 'eth0', ...fields });

export const putRoute = (dst: string, fields: Partial<Route> = {}): KernelOp => ({
  op: 'route.put',
  route: to(dst, fields),
});

export const deleteRoute = (dst: string, fields: Partial<Route> = {}): KernelOp => ({
  op: 'route.delete',
  route: to(dst, fields),
});
