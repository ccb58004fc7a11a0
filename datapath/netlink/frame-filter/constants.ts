/** Numbers of include/uapi/linux/netfilter/{nfnetlink,nf_tables}.h. Each group names its enum. */

/** netlink.h: the protocol. */
export const NETLINK_NETFILTER = 12;

/** nfnetlink.h: a message's type is a subsystem and a number in it; batches have numbers of their own. */
export const NFNL_SUBSYS_NFTABLES = 10;
export const NFNL_MSG_BATCH = { BEGIN: 16, END: 17 } as const;

/** netfilter.h, netfilter_netdev.h */
export const NFPROTO_NETDEV = 5;
export const NF_NETDEV_EGRESS = 1;
export const NF_DROP = 0;
export const NF_ACCEPT = 1;
/** nf_tables.h, enum nft_verdicts */
export const NFT_JUMP = -3;
export const NFT_RETURN = -5;

/** enum nf_tables_msg_types */
export const NFT_MSG = {
  NEWTABLE: 0,
  DELTABLE: 2,
  NEWCHAIN: 3,
  GETCHAIN: 4,
  DELCHAIN: 5,
  NEWRULE: 6,
  GETRULE: 7,
  DELRULE: 8,
  NEWSET: 9,
  NEWSETELEM: 12,
  GETSETELEM: 13,
  DELSETELEM: 14,
} as const;

export const NFTA_TABLE_NAME = 1;
/** enum nft_chain_attributes */
export const NFTA_CHAIN = { TABLE: 1, NAME: 3, HOOK: 4, POLICY: 5, TYPE: 7, USERDATA: 12 } as const;
/** enum nft_hook_attributes */
export const NFTA_HOOK = { HOOKNUM: 1, PRIORITY: 2, DEV: 3 } as const;
/** enum nft_rule_attributes */
export const NFTA_RULE = { TABLE: 1, CHAIN: 2, EXPRESSIONS: 4 } as const;
/** enum nft_set_attributes */
export const NFTA_SET = { TABLE: 1, NAME: 2, KEY_TYPE: 4, KEY_LEN: 5, ID: 10 } as const;
/** enum nft_set_elem_list_attributes */
export const NFTA_SET_ELEM_LIST = { TABLE: 1, SET: 2, ELEMENTS: 3 } as const;
export const NFTA_SET_ELEM_KEY = 1;
export const NFTA_LIST_ELEM = 1;
/** enum nft_data_attributes, nft_verdict_attributes */
export const NFTA_DATA = { VALUE: 1, VERDICT: 2 } as const;
export const NFTA_VERDICT = { CODE: 1, CHAIN: 2 } as const;
/** enum nft_expr_attributes */
export const NFTA_EXPR = { NAME: 1, DATA: 2 } as const;
/** Of each expression. */
export const NFTA_IMMEDIATE = { DREG: 1, DATA: 2 } as const;
export const NFTA_BITWISE = { SREG: 1, DREG: 2, LEN: 3, MASK: 4, XOR: 5 } as const;
export const NFTA_CMP = { SREG: 1, OP: 2, DATA: 3 } as const;
export const NFTA_LOOKUP = { SET: 1, SREG: 2, FLAGS: 5 } as const;
export const NFTA_PAYLOAD = { DREG: 1, BASE: 2, OFFSET: 3, LEN: 4 } as const;
export const NFTA_META = { DREG: 1, KEY: 2 } as const;

/** enum nft_registers: the verdict, and the first of 16 bytes. */
export const NFT_REG = { VERDICT: 0, FIRST: 1 } as const;
export const REGISTER_BYTES = 16;
/** enum nft_cmp_ops */
export const NFT_CMP = { EQ: 0, NEQ: 1, LTE: 3, GTE: 5 } as const;
export const NFT_PAYLOAD_LL_HEADER = 0;
/** enum nft_meta_keys */
export const NFT_META_LEN = 0;
export const NFT_META_MARK = 3;
export const NFT_META_SKUID = 10;
export const NFT_META_RTCLASSID = 13;
export const NFT_LOOKUP_F_INV = 1;

/** Of nft itself (include/datatype.h), so that it lists elements as what they are. */
export const TYPE_ETHERADDR = 9;
/** Of libnftnl (include/udata.h): a comment of a chain. */
export const NFTNL_UDATA_CHAIN_COMMENT = 0;
