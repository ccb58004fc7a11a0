/** Frame filters to and from messages of nf_tables (nfnetlink), and the batches that they go in. */
import { type Mac, macFromBytes, macToBytes } from '../../../net/mac.ts';
import { attribute, nested, readAttributes, readNested, readText, textAttribute } from '../wire/attributes.ts';
import { NLM_F } from '../wire/constants.ts';
import type { NamedRequest } from '../wire/socket.ts';
import {
  NF_ACCEPT,
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
import { jumpExpression, numberOf, ruleExpressions } from './expressions.ts';
import {
  FILTER_TABLE,
  type FrameFilter,
  filterChain,
  filterDigest,
  LOCKED_SET,
  type SharedChain,
  sharedDigest,
  sharedRules,
} from './types.ts';

/**
 * Makes a filter. EEXIST when the link has one; ENOENT when its shared chain is not there, or the table of all.
 * @param isKnown the set of locked pods has the receiver's MAC: to delete what is not there would undo all of the batch
 */
export const addFilter = (filter: FrameFilter, isKnown: boolean): NamedRequest[] => {
  const { link, shared, rules } = filter;
  const chain = filterChain(link);
  const message = messageOf(`add frame filter of ${link}`);
  return [
    ...membership(filter, isKnown, message),
    message(
      NFT_MSG.NEWCHAIN,
      NLM_F.CREATE | NLM_F.EXCL,
      ...chainId(chain),
      ...egressOf(link, NF_DROP),
      comment(filterDigest(filter)),
    ),
    newRule(message, chain, [jumpExpression(shared.name)]),
    ...rules.map((rule) => newRule(message, chain, ruleExpressions(rule))),
  ];
};

/** Makes a shared chain, or puts its rules again; the table and the set too, where they are not there yet. */
export const addShared = (shared: SharedChain): NamedRequest[] => {
  const { name } = shared;
  const message = messageOf(`add ${name} of frame filters`);
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
    message(NFT_MSG.NEWCHAIN, NLM_F.CREATE, ...chainId(name), comment(sharedDigest(shared))),
    message(NFT_MSG.DELRULE, 0, ...ruleChain(name)),
    ...sharedRules(shared).map((rule) => newRule(message, name, ruleExpressions(rule))),
  ];
};

const PROBE = { table: 'ovn-udn-probe', chain: 'egress', link: 'lo' } as const;

/**
 * Changes nothing, and nothing is reported to monitors: when the kernel takes all but the last, it refuses that with EEXIST, and with it
 * the batch. A hook works before its batch is committed, so this one lets everything pass.
 */
export const probeFilter = (): NamedRequest[] => {
  const message = messageOf('try a frame filter');
  const table = textAttribute(NFTA_TABLE_NAME, PROBE.table);
  return [
    message(NFT_MSG.NEWTABLE, NLM_F.CREATE, table),
    message(NFT_MSG.NEWCHAIN, NLM_F.CREATE, ...chainId(PROBE.chain, PROBE.table), ...egressOf(PROBE.link, NF_ACCEPT)),
    message(NFT_MSG.NEWTABLE, NLM_F.CREATE | NLM_F.EXCL, table),
  ];
};

/** With its rules. */
export const deleteFilter = (link: string): NamedRequest =>
  messageOf(`delete frame filter of ${link}`)(NFT_MSG.DELCHAIN, 0, ...chainId(filterChain(link)));

/** With its rules. EBUSY while a filter has it. */
export const deleteShared = (name: string): NamedRequest =>
  messageOf(`delete ${name} of frame filters`)(NFT_MSG.DELCHAIN, 0, ...chainId(name));

/** ENOENT when it is not known as one. */
export const deleteLockedMac = (mac: Mac): NamedRequest =>
  messageOf(`delete locked pod ${mac}`)(NFT_MSG.DELSETELEM, 0, ...elementOf(mac));

export const deleteFilters = (): NamedRequest =>
  messageOf('delete all frame filters')(NFT_MSG.DELTABLE, 0, textAttribute(NFTA_TABLE_NAME, FILTER_TABLE));

export const listChains = (): NamedRequest => messageOf('list frame filters')(NFT_MSG.GETCHAIN, 0);

export const getChain = (chain: string): NamedRequest =>
  messageOf(`get chain ${chain} of frame filters`)(NFT_MSG.GETCHAIN, 0, ...chainId(chain));

/** Of one chain, or of all. */
export const listRules = (chain?: string): NamedRequest =>
  messageOf('list rules of frame filters')(
    NFT_MSG.GETRULE,
    0,
    ...(chain === undefined ? [textAttribute(NFTA_RULE.TABLE, FILTER_TABLE)] : ruleChain(chain)),
  );

/** ENOENT when it is not a locked pod's. */
export const getLockedMac = (mac: Mac): NamedRequest =>
  messageOf(`get locked pod ${mac}`)(NFT_MSG.GETSETELEM, 0, ...elementOf(mac));

export const listLockedMacs = (): NamedRequest =>
  messageOf('list locked pods')(
    NFT_MSG.GETSETELEM,
    0,
    textAttribute(NFTA_SET_ELEM_LIST.TABLE, FILTER_TABLE),
    textAttribute(NFTA_SET_ELEM_LIST.SET, LOCKED_SET),
  );

export interface ListedChain {
  readonly chain: string;
  readonly comment: string;
  /** What none of its rules decides is dropped: any program can change that of a chain that is there. */
  readonly dropsRest: boolean;
}

/** Undefined for a chain of another table. */
export const decodeChain = (bytes: Buffer): ListedChain | undefined => {
  const attributes = readAttributes(bytes.subarray(HEADER_LENGTH));
  const chain = readText(attributes, NFTA_CHAIN.NAME);
  if (readText(attributes, NFTA_CHAIN.TABLE) !== FILTER_TABLE || chain === undefined) return undefined;
  const policy = attributes.get(NFTA_CHAIN.POLICY);
  const dropsRest = policy?.length === 4 && policy.readUInt32BE() === NF_DROP;
  return { chain, comment: commentOf(attributes.get(NFTA_CHAIN.USERDATA)), dropsRest };
};

/** The chain that a rule is in. */
export const decodeRule = (bytes: Buffer): string | undefined => {
  const attributes = readAttributes(bytes.subarray(HEADER_LENGTH));
  return readText(attributes, NFTA_RULE.TABLE) === FILTER_TABLE ? readText(attributes, NFTA_RULE.CHAIN) : undefined;
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

const chainId = (chain: string, table = FILTER_TABLE): Buffer[] => [
  textAttribute(NFTA_CHAIN.TABLE, table),
  textAttribute(NFTA_CHAIN.NAME, chain),
];

const ruleChain = (chain: string): Buffer[] => [
  textAttribute(NFTA_RULE.TABLE, FILTER_TABLE),
  textAttribute(NFTA_RULE.CHAIN, chain),
];

const newRule = (message: Message, chain: string, expressions: readonly Buffer[]): NamedRequest =>
  message(
    NFT_MSG.NEWRULE,
    NLM_F.CREATE | NLM_F.APPEND,
    ...ruleChain(chain),
    nested(NFTA_RULE.EXPRESSIONS, ...expressions),
  );

/** What makes a chain a base chain. */
const egressOf = (link: string, policy: number): Buffer[] => [
  nested(
    NFTA_CHAIN.HOOK,
    numberOf(NFTA_HOOK.HOOKNUM, NF_NETDEV_EGRESS),
    numberOf(NFTA_HOOK.PRIORITY, 0),
    textAttribute(NFTA_HOOK.DEV, link),
  ),
  numberOf(NFTA_CHAIN.POLICY, policy),
  textAttribute(NFTA_CHAIN.TYPE, 'filter'),
];

const membership = (
  { receiver: { mac, isLocked } }: FrameFilter,
  isKnown: boolean,
  message: Message,
): NamedRequest[] => {
  if (isLocked === undefined || isLocked === isKnown) return [];
  return [
    isLocked
      ? message(NFT_MSG.NEWSETELEM, NLM_F.CREATE, ...elementOf(mac))
      : message(NFT_MSG.DELSETELEM, 0, ...elementOf(mac)),
  ];
};

const elementOf = (mac: Mac): Buffer[] => [
  textAttribute(NFTA_SET_ELEM_LIST.TABLE, FILTER_TABLE),
  textAttribute(NFTA_SET_ELEM_LIST.SET, LOCKED_SET),
  nested(
    NFTA_SET_ELEM_LIST.ELEMENTS,
    nested(NFTA_LIST_ELEM, nested(NFTA_SET_ELEM_KEY, attribute(NFTA_DATA.VALUE, macToBytes(mac)))),
  ),
];

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
const comment = (text: string): Buffer =>
  attribute(
    NFTA_CHAIN.USERDATA,
    Buffer.concat([Uint8Array.of(NFTNL_UDATA_CHAIN_COMMENT, text.length + 1), Buffer.from(`${text}\0`)]),
  );

const commentOf = (bytes: Buffer | undefined): string =>
  bytes?.[0] === NFTNL_UDATA_CHAIN_COMMENT ? bytes.toString('latin1', 2, 1 + (bytes[1] ?? 0)) : '';
