/** The subnets that the nodes hold of one layer-3 network: one per family. No I/O and no clock. */
import {
  allocateSubnet,
  releaseSubnet,
  reserveSubnet,
  type SubnetPool,
  type SubnetRange,
  subnetPool,
} from '../../net/allocator/subnets.ts';
import { type Cidr, cidrContains, cidrFamily, prefixLength } from '../../net/cidr.ts';
import { FAMILIES, type Family } from '../../net/ip.ts';
import { isConflict } from './conflict.ts';
import type { SubnetUsage } from './port.ts';

export interface SubnetLedger {
  /**
   * Takes note of what a node holds already. What is no subnet of the network (any more) is not taken.
   * @returns a message per subnet that could not be taken
   */
  recover(owner: string, subnets: readonly Cidr[]): readonly string[];
  /**
   * One subnet of every family: those that the node holds, the others newly taken; all or nothing.
   * @throws NetError ERR_NET_EXHAUSTED
   */
  assign(owner: string): readonly Cidr[];
  /** Absent is success. */
  release(owner: string): void;
  /** IPv4 first. */
  get(owner: string): readonly Cidr[] | undefined;
  owners(): readonly string[];
  /** How much of each range the owners hold. */
  usage(): readonly SubnetUsage[];
}

export const createSubnetLedger = (ranges: readonly SubnetRange[]): SubnetLedger => {
  const pools = new Map<Family, SubnetPool>();
  for (const family of FAMILIES) {
    const own = ranges.filter(({ cidr }) => cidrFamily(cidr) === family);
    if (own.length > 0) pools.set(family, subnetPool(own));
  }
  const byOwner = new Map<string, ReadonlyMap<Family, Cidr>>();
  const holderOf = new Map<Cidr, string>();
  /** By range, how many of its subnets are held: counted, as the usage of all networks is asked for with each scrape of metrics. */
  const usedOf = new Map<Cidr, number>();
  const cidrs = new Set(ranges.map(({ cidr }) => cidr));

  const count = (subnet: Cidr, by: 1 | -1): void => {
    for (const cidr of cidrs) if (cidrContains(cidr, subnet)) usedOf.set(cidr, (usedOf.get(cidr) ?? 0) + by);
  };
  const hold = (owner: string, family: Family, subnet: Cidr, pool: SubnetPool): void => {
    pools.set(family, pool);
    holderOf.set(subnet, owner);
    count(subnet, 1);
    byOwner.set(owner, new Map([...(byOwner.get(owner) ?? []), [family, subnet]]));
  };
  const take = (owner: string, subnet: Cidr): string | undefined => {
    const family = cidrFamily(subnet);
    const pool = pools.get(family);
    const held = byOwner.get(owner)?.get(family);
    if (held === subnet) return undefined;
    if (held !== undefined) return `${subnet} is a second IPv${family} subnet: keeping ${held}`;
    try {
      if (pool === undefined) return `${subnet} is not in the network's subnets`;
      hold(owner, family, subnet, reserveSubnet(pool, subnet));
      return undefined;
    } catch (error) {
      if (isConflict(error)) return `${subnet} already belongs to ${holderOf.get(subnet) ?? 'another node'}`;
      return `${subnet} is not in the network's subnets`;
    }
  };
  return {
    recover: (owner, subnets) => subnets.flatMap((subnet) => take(owner, subnet) ?? []),
    assign: (owner) => {
      const missing = [...pools].filter(([family]) => byOwner.get(owner)?.has(family) !== true);
      const taken = missing.map(([family, pool]) => ({ family, ...allocateSubnet(pool) }));
      for (const { family, subnet, pool } of taken) hold(owner, family, subnet, pool);
      return inOrder(byOwner.get(owner));
    },
    release: (owner) => {
      for (const [family, subnet] of byOwner.get(owner) ?? []) {
        const pool = pools.get(family);
        if (pool !== undefined) pools.set(family, releaseSubnet(pool, subnet));
        if (holderOf.delete(subnet)) count(subnet, -1);
      }
      byOwner.delete(owner);
    },
    get: (owner) => (byOwner.has(owner) ? inOrder(byOwner.get(owner)) : undefined),
    owners: () => [...byOwner.keys()],
    usage: () =>
      ranges.map(({ cidr, hostPrefix }) => {
        const used = usedOf.get(cidr) ?? 0;
        const size = 1n << BigInt(Math.max(0, hostPrefix - prefixLength(cidr)));
        return { subnet: cidr, used, free: size - BigInt(used) };
      }),
  };
};

const inOrder = (subnets: ReadonlyMap<Family, Cidr> | undefined): readonly Cidr[] =>
  FAMILIES.flatMap((family) => subnets?.get(family) ?? []);
