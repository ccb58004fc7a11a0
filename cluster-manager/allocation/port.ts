/** What attachments of pods to layer-2 networks and localnets ask for and have. */
import type { Cidr, InterfaceAddress } from '../../net/cidr.ts';
import type { PortKey } from '../../net/ids.ts';
import type { Ip } from '../../net/ip.ts';
import type { Mac } from '../../net/mac.ts';

export interface PodAllocation {
  /** In the order of the network's subnets; empty without IPAM. */
  readonly addresses: readonly InterfaceAddress[];
  readonly mac: Mac;
  /** Only of a network that has them (`hasPortKeys`). */
  readonly tunnelId: PortKey | undefined;
}

/** What a pod asked for. */
export interface AddressRequest {
  /** One per subnet, or none. */
  readonly ips: readonly Ip[];
  readonly mac?: Mac | undefined;
}

/** One attachment of a pod. */
export interface Port {
  readonly id: string;
  /** Whose the addresses are: the port's own `id`, or what several ports share. */
  readonly owner: string;
  /** What runs behind it: ports of one machine may have one MAC. */
  readonly machine: string;
  /** The owner keeps its addresses when it has no port (any more). */
  readonly isKept?: boolean | undefined;
}

/** What a pod has according to its annotation. */
export interface HeldAddresses {
  readonly addresses: readonly InterfaceAddress[];
  readonly mac: Mac | undefined;
  readonly tunnelId?: PortKey | undefined;
}

/** How much of a subnet is given out and how much can be: addresses, or subnets of nodes. */
export interface SubnetUsage {
  readonly subnet: Cidr;
  readonly used: number;
  readonly free: bigint;
}
