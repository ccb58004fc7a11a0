import type { Mac } from '../../../net/mac.ts';

/** How IPv6 makes a link's own address: from the MAC (RFC 4291), not at all, or RFC 7217. */
export type AddrGenMode = 'eui64' | 'none' | 'stable-privacy' | 'random';

/** A network interface as the kernel has it. */
export interface Link {
  readonly index: number;
  readonly name: string;
  /** rtnl_link_ops kind, for example `veth`, `vrf`, `openvswitch`; undefined for hardware and loopback. */
  readonly kind: string | undefined;
  /** Undefined when the link has no address of six bytes, for example a tunnel. */
  readonly mac: Mac | undefined;
  readonly mtu: number;
  /** Administratively up. */
  readonly up: boolean;
  /** Running: up, and so is the other end. */
  readonly carrier: boolean;
  /** Index of the bridge, VRF or bond that it is a port of. */
  readonly master: number | undefined;
  readonly alias: string | undefined;
  /** `IFLA_GROUP`; 0 unless somebody set it. */
  readonly group: number;
  /** For a link that belongs to another one: the peer of a veth, the parent of a VLAN. */
  readonly peer: LinkPeer | undefined;
  /** Undefined where IPv6 is not in the kernel or not on the link. */
  readonly addrGenMode: AddrGenMode | undefined;
  /** The routing table of a VRF; absent for other kinds. */
  readonly vrfTable?: number;
}

export interface LinkPeer {
  /** The peer's index in its namespace. */
  readonly index: number;
  /** What this namespace calls the peer's; undefined when it is the same namespace. */
  readonly netnsid: number | undefined;
}

/** One end of a veth pair. */
export interface NewVethEnd {
  readonly name: string;
  readonly mac: Mac;
  readonly mtu: number;
  readonly group: number;
}

/** A veth pair, made in one step with both ends in their place. */
export interface NewVeth extends NewVethEnd {
  readonly kind: 'veth';
  /** `netns` is the path of the namespace that the peer is made in; undefined for the same one. */
  readonly peer: NewVethEnd & { readonly netns: string | undefined };
}

/** A virtual routing and forwarding device: what goes through its ports is routed by its table. */
export interface NewVrf {
  readonly kind: 'vrf';
  readonly name: string;
  readonly table: number;
}

/** The kernel's own bridge. */
export interface NewBridge {
  readonly kind: 'bridge';
  readonly name: string;
}

/** What `ip link add` takes for a pod. */
export type NewLink = NewVeth;

/** What other links become ports of. */
export type NewMaster = NewVrf | NewBridge;

/** What is to change on a link; what is absent stays. */
export interface LinkChange {
  readonly up?: boolean;
  readonly mtu?: number;
  readonly mac?: Mac;
  readonly alias?: string;
  readonly group?: number;
  /** Name of the bridge or VRF that it becomes a port of; null: of none. */
  readonly master?: string | null;
}

/** IFALIASZ − 1 of the kernel. */
export const MAX_ALIAS_LENGTH = 255;

/** As the kernel's dev_valid_name: 1–15 bytes, no slash, colon or white space, not a dot or two. */
export const isLinkName = (name: string): boolean =>
  /^[^\s/:\0]+$/.test(name) && Buffer.byteLength(name) <= 15 && name !== '.' && name !== '..';
