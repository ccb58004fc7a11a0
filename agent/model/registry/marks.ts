/**
 * Marks, conntrack zones and cookies. They are those of ovn-kubernetes, so that a node can move over while connections go
 * on, and people find what they know.
 */
import { MAX_NETWORKS, type NetworkId } from '../../../net/ids.ts';

/** `ct_mark` of connections that leave through the gateway bridge, in the zone `CT_ZONES.external`. */
export const CT_MARKS = { default: 0x1, host: 0x2 } as const;

/** A user-defined network's `ct_mark`. */
export const networkCtMark = (id: NetworkId): number => 3 + id;

/**
 * Mark of a packet in the kernel that is for a network: decides its patch port, and the VRF of a user-defined one. That of the
 * default network is for what came to a node port or an external address of a Service.
 */
export const networkPacketMark = (id: NetworkId): number => 4096 + id;

/** First and last of those of user-defined networks. */
export const NETWORK_PACKET_MARKS = [4096 + 1, 4096 + MAX_NETWORKS - 1] as const;

export const PACKET_MARKS = {
  /** To be sent with the node's own address (egress IP, egress service). */
  nodeSnat: 0x3f0,
  /** A service whose traffic from this node stays on it. */
  internalTrafficLocal: 0x1745ec,
} as const;

/**
 * A bit of a packet's mark in the kernel: a process of the node has sent it, and it has passed what processes may not pass. Set where it
 * goes into Open vSwitch, unless it has a network's mark, which the gateway bridge goes by. No bit of any mark above, of Kubernetes
 * (0x4000, 0x8000) or of Open vSwitch's IPsec (0x1).
 */
export const PROCESS_MARK = 0x0800_0000;

/** Conntrack zones of the gateway bridge. OVN takes zones for its own ports from 1 on. */
export const CT_ZONES = {
  /** Connections to and from the outside. */
  external: 64_000,
  /** From the host to services, behind the host's masquerade address. */
  hostMasquerade: 64_001,
  /** From OVN to the host, behind OVN's masquerade address. */
  ovnMasquerade: 64_002,
  /** To host-network endpoints of services with `externalTrafficPolicy: Local`. */
  hostNodePort: 64_003,
  /** Only to reassemble fragments. */
  reassembly: 64_004,
  /** The same, of what pods of localnets send: none of theirs becomes part of a packet from outside. */
  localnetReassembly: 64_005,
} as const;

/**
 * What networks send out with the node's address comes from these ports. Below are those at which the node itself is asked:
 * node ports (30000 to 32767 unless the API server is configured otherwise), kubelet, ssh. A pod that opens connections
 * from such a port to a client's ports would have the client's packets taken for answers, before they reach whom they are
 * for. So it is with a `hostPort` among these, which cannot be refused: docs/security.md, "What is not kept apart".
 */
export const PORTS_OF_PODS = { first: 32_768, last: 65_535 } as const;

/** `ct_label` of connections in the zone `CT_ZONES.external`. */
export const CT_LABELS = {
  /** Begins with what a Service has answered to a client outside: the client's packets are conntrack's replies. */
  serviceAnswer: 0x1,
} as const;

export const COOKIES = {
  /** Of every flow of ours but those below. */
  default: 0xdeff105n,
  /** Drops path MTU messages from other nodes that name the node's own address. */
  pathMtu: 0x0304n,
  /** Of gratuitous ARP. */
  gratuitousArp: 0x0305n,
} as const;

/**
 * Of flows that the bridge learns for a network by itself. None of `COOKIES`: they come and go without us, so they are no
 * drift, and go with the flow that has learned them (`delete_learned`, ovs-actions(7)).
 */
export const askerCookie = (id: NetworkId): bigint => FIRST_ASKER + BigInt(id);

export const isAskerCookie = (cookie: bigint): boolean =>
  cookie >= FIRST_ASKER && cookie < FIRST_ASKER + BigInt(MAX_NETWORKS);

const FIRST_ASKER = 0xdeff105_0000n;
