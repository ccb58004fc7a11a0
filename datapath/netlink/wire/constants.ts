/** Numbers of the kernel's user interface that `codec.ts` lacks. Each group names its header below include/uapi/linux. */

/** netlink.h: protocols. */
export const NETLINK_ROUTE = 0;

/** netlink.h: control messages. */
export const NLMSG = { NOOP: 1, ERROR: 2, DONE: 3, OVERRUN: 4 } as const;

/** netlink.h: flags of a message. */
export const NLM_F = {
  REQUEST: 0x1,
  ACK: 0x4,
  DUMP_INTR: 0x10,
  REPLACE: 0x100,
  EXCL: 0x200,
  DUMP: 0x300,
  CREATE: 0x400,
  APPEND: 0x800,
  /** In an answer: only the header of the refused request follows. */
  CAPPED: 0x100,
  /** In an answer: attributes with an explanation follow. */
  ACK_TLVS: 0x200,
} as const;

/** netlink.h: attributes of an error. */
export const NLMSGERR_ATTR_MSG = 1;

export const AF = { UNSPEC: 0, INET: 2, INET6: 10 } as const;

/** if.h: flags of a link. */
export const IFF = { UP: 0x1, LOWER_UP: 0x1_0000 } as const;

/** if_link.h */
export const IFLA = {
  ADDRESS: 1,
  IFNAME: 3,
  MTU: 4,
  LINK: 5,
  MASTER: 10,
  LINKINFO: 18,
  IFALIAS: 20,
  AF_SPEC: 26,
  GROUP: 27,
  NET_NS_FD: 28,
  EXT_MASK: 29,
  NUM_TX_QUEUES: 31,
  NUM_RX_QUEUES: 32,
  LINK_NETNSID: 37,
} as const;
export const IFLA_INFO = { KIND: 1, DATA: 2 } as const;
export const IFLA_VRF_TABLE = 1;
export const VETH_INFO_PEER = 1;
export const IFLA_INET6_ADDR_GEN_MODE = 8;
/** rtnetlink.h: leave the counters out of the answer. */
export const RTEXT_FILTER_SKIP_STATS = 8;

/** if_addr.h */
export const IFA = { ADDRESS: 1, LOCAL: 2, LABEL: 3, BROADCAST: 4, CACHEINFO: 6, FLAGS: 8, RT_PRIORITY: 9 } as const;
export const IFA_F = { NODAD: 0x02, DADFAILED: 0x08, DEPRECATED: 0x20, TENTATIVE: 0x40, NOPREFIXROUTE: 0x200 } as const;
/** A lifetime without end. */
export const INFINITY_LIFE_TIME = 0xffff_ffff;

/** rtnetlink.h */
export const RTA = {
  DST: 1,
  OIF: 4,
  GATEWAY: 5,
  PRIORITY: 6,
  PREFSRC: 7,
  METRICS: 8,
  MULTIPATH: 9,
  TABLE: 15,
  VIA: 18,
} as const;
export const RTAX_MTU = 2;
export const RTNH_F_ONLINK = 4;
export const RT_SCOPE = { UNIVERSE: 0, LINK: 253, HOST: 254, NOWHERE: 255 } as const;
/** Tables below this fit the header's byte; RTA_TABLE holds them all. */
export const RT_TABLE_BYTE_LIMIT = 256;

/** rtnetlink.h: multicast groups. */
export const RTNLGRP = {
  LINK: 1,
  NEIGH: 3,
  IPV4_IFADDR: 5,
  IPV4_ROUTE: 7,
  IPV4_RULE: 8,
  IPV6_IFADDR: 9,
  IPV6_ROUTE: 11,
  IPV6_RULE: 19,
  IPV4_NETCONF: 24,
  IPV6_NETCONF: 25,
} as const;

/** fib_rules.h */
export const FRA = {
  DST: 1,
  SRC: 2,
  IIFNAME: 3,
  PRIORITY: 6,
  FWMARK: 10,
  FLOW: 11,
  SUPPRESS_PREFIXLEN: 14,
  TABLE: 15,
  FWMASK: 16,
  PAD: 18,
  L3MDEV: 19,
  PROTOCOL: 21,
} as const;
export const FR_ACT_TO_TBL = 1;
export const FIB_RULE_INVERT = 2;

/** netconf.h */
export const NETCONFA = { IFINDEX: 1, FORWARDING: 2, RP_FILTER: 3, ALL: -1, DEFAULT: -2 } as const;

/** neighbour.h */
export const NDA = { DST: 1, LLADDR: 2 } as const;
export const NUD_PERMANENT = 0x80;

/** net_namespace.h */
export const NETNSA = { NSID: 1, FD: 3 } as const;
