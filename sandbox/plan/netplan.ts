/**
 * Names and addresses of the network that the nodes' br-ex are attached to. Private ranges that none of the cluster's
 * own defaults overlap (reference: pods 10.128.0.0/14, Services 10.96.0.0/16, join 100.64.0.0/16, transit 100.88.0.0/16,
 * masquerade 169.254.0.0/17 and their IPv6 counterparts).
 */
import {
  addressOf,
  type Cidr,
  cidrFamily,
  type InterfaceAddress,
  interfaceAddressAt,
  parseCidr,
} from '../../net/cidr.ts';
import type { Family, Ip } from '../../net/ip.ts';
import { type Mac, macFromBytes } from '../../net/mac.ts';
import type { IpFamilies } from './options.ts';

/** A machine on the node network. */
export interface HostPlan {
  readonly name: string;
  /** The end of its veth that is a port of the underlay's bridge. */
  readonly port: string;
  readonly mac: Mac;
  readonly addresses: readonly InterfaceAddress[];
}

export interface NetPlan {
  /** One per family. */
  readonly subnets: readonly Cidr[];
  /** The underlay's own addresses: next hop of the nodes' default routes, and where they reach the API server. */
  readonly gateway: readonly InterfaceAddress[];
  readonly outside: HostPlan;
  readonly nodes: readonly HostPlan[];
  /** Of every link of the node network. */
  readonly mtu: number;
}

export const BRIDGE = 'underlay';
export const API_PORT = 6443;

const SUBNETS: Readonly<Record<IpFamilies, readonly Cidr[]>> = {
  4: [parseCidr('172.20.0.0/24')],
  6: [parseCidr('fd00:172:20::/64')],
  dual: [parseCidr('172.20.0.0/24'), parseCidr('fd00:172:20::/64')],
};
const GATEWAY_OFFSET = 1;
const OUTSIDE_OFFSET = 2;
const FIRST_NODE_OFFSET = 11;

/** The same for every sandbox: each has a network of its own. */
export const planNetwork = (families: IpFamilies, nodeCount: number): NetPlan => {
  const subnets = SUBNETS[families];
  const host = (name: string, offset: number): HostPlan => ({
    name,
    port: `u-${name}`,
    mac: macFromBytes(Uint8Array.of(0x02, 0x00, 0xac, 0x14, 0x00, offset)),
    addresses: addressesAt(subnets, offset),
  });
  return {
    subnets,
    gateway: addressesAt(subnets, GATEWAY_OFFSET),
    outside: host('outside', OUTSIDE_OFFSET),
    nodes: Array.from({ length: nodeCount }, (_, i) => host(nodeName(i + 1), FIRST_NODE_OFFSET + i)),
    mtu: 1500,
  };
};

/** `node-1` is the first. */
export const nodeName = (number: number): string => `node-${number}`;

/** The address of a family, without prefix length. */
export const addressOfFamily = (addresses: readonly InterfaceAddress[], family: Family): Ip | undefined =>
  addresses.filter((address) => cidrFamily(address) === family).map(addressOf)[0];

const addressesAt = (subnets: readonly Cidr[], offset: number): InterfaceAddress[] =>
  subnets.map((subnet) => interfaceAddressAt(subnet, offset));
