/** Frame filters to and from messages of nf_tables (nfnetlink), and the batches that they go in. */
import { type Mac, macFromBytes, macToBytes } from '../../../net/mac.ts';
import { attribute, nested, readAttributes, readNested, readText, textAttribute } from '../wire/attributes.ts';
import { NLM_F } from '../wire/constants.ts';
import type { NamedRequest } from '../wire/socket.ts';
import {
  NF_DROP,
  NF_NETDEV_EGRESS,
  NFNL_MSG_BATCH,
  NFNL_SUBSYS_NFTABLES,
  NFPROTO_NETDEV,
  NFT_MSG,
  NFTA_CHAIN,
  NFTA_DATA,
  NFTA_HOOK,
  NFTA_LIST_ELEM,
  NFTA_RULE,
  NFTA_SET,
  NFTA_SET_ELEM_KEY,
  NFTA_SET_ELEM_LIST,
  NFTA_TABLE_NAME,
  NFTNL_UDATA_CHAIN_COMMENT,
  TYPE_ETHERADDR,
} from './constants.ts';
import { numberOf, ruleExpressions } from './expressions.ts';
import {
  FILTER_TABLE,
  type FrameFilter,
  type FrameRule,
  filterChain,
  filterDigest,
  LOCKED_SET,
  linkOfChain,
} from './types.ts';

/** What makes a filter; the table and the set too, where they are not there yet. EEXIST when the link has a filter. */
export const addFilter = (filter: FrameFilter): NamedRequest[] => {
  const { link, rules } = filter;
  const message = messageOf(`add frame filter of ${link}`);
  return [
    message(NFT_MSG.NEWTABLE, NLM_F.CREATE, textAttribute(NFTA_TABLE_NAME, FILTER_TABLE)),
    message(
      NFT_MSG.NEWSET,
      NLM_F.CREATE,
      textAttribute(NFTA_SET.TABLE, FILTER_TABLE),
      textAttribute(NFTA_SET.NAME, LOCKED_SET),
      numberOf(NFTA_SET.KEY_TYPE, TYPE_ETHERADDR),
      numberOf(NFTA_SET.KEY_LEN, MAC_BYTES),
      numberOf(NFTA_SET.ID, 1),
    ),
    ...membership(filter, message),
    message(NFT_MSG.NEWCHAIN, NLM_F.CREATE | NLM_F.EXCL, ...chainAttributes(link, rules)),
    ...rules.map((rule) =>
      message(
        NFT_MSG.NEWRULE,
        NLM_F.CREATE | NLM_F.APPEND,
        textAttribute(NFTA_RULE.TABLE, FILTER_TABLE),
        textAttribute(NFTA_RULE.CHAIN, filterChain(link)),
        nested(NFTA_RULE.EXPRESSIONS, ...ruleExpressions(rule)),
      ),
    ),
  ];
};

/** With its rules. */
export const deleteFilter = (link: string): NamedRequest =>
  messageOf(`delete frame filter of ${link}`)(NFT_MSG.DELCHAIN, 0, ...chainId(link));

export const deleteFilters = (): NamedRequest =>
  messageOf('delete all frame filters')(NFT_MSG.DELTABLE, 0, textAttribute(NFTA_TABLE_NAME, FILTER_TABLE));

export const listChains = (): NamedRequest => messageOf('list frame filters')(NFT_MSG.GETCHAIN, 0);

export const getChain = (link: string): NamedRequest =>
  messageOf(`get frame filter of ${link}`)(NFT_MSG.GETCHAIN, 0, ...chainId(link));

/** Of one filter, or of all. */
export const listRules = (link?: string): NamedRequest =>
  messageOf('list rules of frame filters')(
    NFT_MSG.GETRULE,
    0,
    textAttribute(NFTA_RULE.TABLE, FILTER_TABLE),
    ...(link === undefined ? [] : [textAttribute(NFTA_RULE.CHAIN, filterChain(link))]),
  );

export const listLockedMacs = (): NamedRequest =>
  messageOf('list locked pods')(
    NFT_MSG.GETSETELEM,
    0,
    textAttribute(NFTA_SET_ELEM_LIST.TABLE, FILTER_TABLE),
    textAttribute(NFTA_SET_ELEM_LIST.SET, LOCKED_SET),
  );

/** The link of a filter, and the comment of its chain. Undefined for a chain of somebody else. */
export const decodeChain = (bytes: Buffer): { readonly link: string; readonly comment: string } | undefined => {
  const attributes = readAttributes(bytes.subarray(HEADER_LENGTH));
  const link = linkOfChain(readText(attributes, NFTA_CHAIN.NAME));
  if (readText(attributes, NFTA_CHAIN.TABLE) !== FILTER_TABLE || link === undefined) return undefined;
  return { link, comment: commentOf(attributes.get(NFTA_CHAIN.USERDATA)) };
};

/** The link that a rule is for. */
export const decodeRule = (bytes: Buffer): string | undefined => {
  const attributes = readAttributes(bytes.subarray(HEADER_LENGTH));
  if (readText(attributes, NFTA_RULE.TABLE) !== FILTER_TABLE) return undefined;
  return linkOfChain(readText(attributes, NFTA_RULE.CHAIN));
};

/** Several, as the kernel puts many elements into one message. */
export const decodeLockedMacs = (bytes: Buffer): Mac[] => {
  const list = readAttributes(bytes.subarray(HEADER_LENGTH)).get(NFTA_SET_ELEM_LIST.ELEMENTS);
  return list === undefined ? [] : childrenOf(list).flatMap(macOfElement);
};

/** What begins a batch, and what ends it: all of it happens, or nothing. */
export const batchEnds = (): readonly [NamedRequest, NamedRequest] => [
  batchMessage('begin', NFNL_MSG_BATCH.BEGIN),
  batchMessage('end', NFNL_MSG_BATCH.END),
];

const MAC_BYTES = 6;
/** `struct nfgenmsg` */
const HEADER_LENGTH = 4;

type Message = (number: number, flags: number, ...attributes: readonly Uint8Array[]) => NamedRequest;

const messageOf =
  (subject: string): Message =>
  (number, flags, ...attributes) => ({
    type: (NFNL_SUBSYS_NFTABLES << 8) | number,
    flags,
    payload: Buffer.concat([Uint8Array.of(NFPROTO_NETDEV, 0, 0, 0), ...attributes]),
    subject,
  });

/** The resource is the subsystem, in network byte order. */
const batchMessage = (what: string, type: number): NamedRequest => ({
  type,
  flags: 0,
  payload: Uint8Array.of(0, 0, 0, NFNL_SUBSYS_NFTABLES),
  subject: `${what} batch of nftables`,
});

const chainId = (link: string): Buffer[] => [
  textAttribute(NFTA_CHAIN.TABLE, FILTER_TABLE),
  textAttribute(NFTA_CHAIN.NAME, filterChain(link)),
];

const chainAttributes = (link: string, rules: readonly FrameRule[]): Buffer[] => [
  ...chainId(link),
  nested(
    NFTA_CHAIN.HOOK,
    numberOf(NFTA_HOOK.HOOKNUM, NF_NETDEV_EGRESS),
    numberOf(NFTA_HOOK.PRIORITY, 0),
    textAttribute(NFTA_HOOK.DEV, link),
  ),
  numberOf(NFTA_CHAIN.POLICY, NF_DROP),
  textAttribute(NFTA_CHAIN.TYPE, 'filter'),
  attribute(NFTA_CHAIN.USERDATA, commentBytes(filterDigest(rules))),
];

/** To delete what is not there would undo all of the batch, so it is added first. */
const membership = ({ receiver: { mac, isLocked } }: FrameFilter, message: Message): NamedRequest[] => {
  if (isLocked === undefined) return [];
  const element = [
    textAttribute(NFTA_SET_ELEM_LIST.TABLE, FILTER_TABLE),
    textAttribute(NFTA_SET_ELEM_LIST.SET, LOCKED_SET),
    nested(
      NFTA_SET_ELEM_LIST.ELEMENTS,
      nested(NFTA_LIST_ELEM, nested(NFTA_SET_ELEM_KEY, attribute(NFTA_DATA.VALUE, macToBytes(mac)))),
    ),
  ];
  const added = message(NFT_MSG.NEWSETELEM, NLM_F.CREATE, ...element);
  return isLocked ? [added] : [added, message(NFT_MSG.DELSETELEM, 0, ...element)];
};

const macOfElement = (element: Buffer): Mac[] => {
  const value = readNested(readAttributes(element), NFTA_SET_ELEM_KEY).get(NFTA_DATA.VALUE);
  return value?.length === MAC_BYTES ? [macFromBytes(value)] : [];
};

/** Attributes of one type, which `readAttributes` would take for one. */
const childrenOf = (list: Buffer): Buffer[] => {
  const children: Buffer[] = [];
  for (let rest = list; rest.length >= 4; ) {
    const length = Math.max(4, Math.ceil(lengthAt(rest) / 4) * 4);
    children.push(...readAttributes(rest.subarray(0, length)).values());
    rest = rest.subarray(length);
  }
  return children;
};

const lengthAt = (bytes: Buffer): number => new Uint16Array(Uint8Array.from(bytes.subarray(0, 2)).buffer)[0] ?? 0;

/** Type, length with the NUL, text: as nft itself writes comments, so that it lists them. */
const commentBytes = (text: string): Buffer =>
  Buffer.concat([Uint8Array.of(NFTNL_UDATA_CHAIN_COMMENT, text.length + 1), Buffer.from(`${text}\0`)]);

const commentOf = (bytes: Buffer | undefined): string =>
  bytes?.[0] === NFTNL_UDATA_CHAIN_COMMENT ? bytes.toString('latin1', 2, 1 + (bytes[1] ?? 0)) : '';
