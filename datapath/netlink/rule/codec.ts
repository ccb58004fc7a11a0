/** Policy rules to and from bytes (fib_rules.h, RTM_*RULE). */
import { addressOf, type Cidr, prefixLength } from '../../../net/cidr.ts';
import { type Family, ipToBytes } from '../../../net/ip.ts';
import { netlinkFault } from '../errors.ts';
import {
  type Attributes,
  attribute,
  byteAttribute,
  numberAttribute,
  readAttributes,
  readByte,
  readNumber,
  readText,
  textAttribute,
} from '../wire/attributes.ts';
import { MessageType, readU32 } from '../wire/codec.ts';
import { FIB_RULE_INVERT, FR_ACT_TO_TBL, FRA, NLM_F, RT_TABLE_BYTE_LIMIT } from '../wire/constants.ts';
import { cidrFromBytes, familyNumber, familyOfNumber } from '../wire/ip-bytes.ts';
import type { NamedRequest } from '../wire/socket.ts';
import { type Rule, ruleText } from './types.ts';

/** All rules of a family as a dump. */
export const getRules = (family: Family): NamedRequest => ({
  type: MessageType.GETRULE,
  flags: 0,
  payload: header({ family }),
  subject: `list IPv${family} rules`,
});

/** EXCL, because without it the kernel adds the same rule again and again. */
export const addRule = (rule: Rule): NamedRequest => ({
  type: MessageType.NEWRULE,
  flags: NLM_F.CREATE | NLM_F.EXCL,
  payload: payload(rule),
  subject: `add rule ${ruleText(rule)}`,
});

/** Names all that is known of the rule, protocol included, so that one of somebody else stays. */
export const deleteRule = (rule: Rule): NamedRequest => ({
  type: MessageType.DELRULE,
  flags: 0,
  payload: payload(rule),
  subject: `delete rule ${ruleText(rule)}`,
});

/**
 * Undefined for a rule that no one here makes: of another family or action, or with a selector that `Rule` lacks.
 * @throws NetlinkError ERR_NETLINK_MALFORMED
 */
export const decodeRule = (bytes: Buffer): Rule | undefined => {
  if (bytes.length < HEADER_LENGTH) throw netlinkFault('ERR_NETLINK_MALFORMED', 'a rule is cut off');
  const [number, toLength = 0, fromLength = 0, tos, table = 0] = bytes;
  const family = familyOfNumber(number);
  const attributes = readAttributes(bytes.subarray(HEADER_LENGTH));
  const isPlain = tos === 0 && (readU32(bytes, FLAGS_OFFSET) & FIB_RULE_INVERT) === 0;
  if (family === undefined || bytes[ACTION_OFFSET] !== FR_ACT_TO_TBL || !isPlain || !isKnown(attributes)) {
    return undefined;
  }
  const mask = readNumber(attributes, FRA.FWMASK);
  return {
    family,
    priority: readNumber(attributes, FRA.PRIORITY) ?? 0,
    ...optional('from', prefix(family, attributes.get(FRA.SRC), fromLength)),
    ...optional('to', prefix(family, attributes.get(FRA.DST), toLength)),
    // The kernel leaves a mark of 0 out, but not its mask.
    ...optional('fwmark', readNumber(attributes, FRA.FWMARK) ?? (mask === undefined ? undefined : 0)),
    ...optional('fwmask', mask === ALL_BITS ? undefined : mask),
    ...optional('iif', readText(attributes, FRA.IIFNAME)),
    ...(readByte(attributes, FRA.L3MDEV) === 1 ? { l3mdev: true as const } : {}),
    table: readNumber(attributes, FRA.TABLE) ?? table,
    protocol: readByte(attributes, FRA.PROTOCOL) ?? 0,
  };
};

const HEADER_LENGTH = 12;
const ACTION_OFFSET = 7;
const FLAGS_OFFSET = 8;
const ALL_BITS = 0xffff_ffff;
const KNOWN: ReadonlySet<number> = new Set(Object.values(FRA));

/** The kernel always names the prefix length to suppress: all bits mean that there is none. */
const isKnown = (attributes: Attributes): boolean =>
  attributes.keys().every((type) => KNOWN.has(type)) &&
  (readNumber(attributes, FRA.SUPPRESS_PREFIXLEN) ?? ALL_BITS) === ALL_BITS;

const prefix = (family: Family, bytes: Buffer | undefined, length: number): Cidr | undefined => {
  if (length === 0) return undefined;
  const cidr = cidrFromBytes(family, bytes, length);
  if (cidr === undefined) throw netlinkFault('ERR_NETLINK_MALFORMED', 'a rule has a prefix without an address');
  return cidr;
};

const header = ({ family, from, to, table = 0 }: Pick<Rule, 'family'> & Partial<Rule>): Buffer => {
  const bytes = Buffer.alloc(HEADER_LENGTH);
  bytes[0] = familyNumber(family);
  bytes[1] = to === undefined ? 0 : prefixLength(to);
  bytes[2] = from === undefined ? 0 : prefixLength(from);
  bytes[4] = table < RT_TABLE_BYTE_LIMIT ? table : 0;
  return bytes;
};

const payload = (rule: Rule): Buffer => {
  const { priority, from, to, fwmark, fwmask = ALL_BITS, iif, l3mdev, table, protocol } = rule;
  const start = header(rule);
  start[ACTION_OFFSET] = FR_ACT_TO_TBL;
  return Buffer.concat([
    start,
    numberAttribute(FRA.PRIORITY, priority),
    // The kernel takes one of the two.
    l3mdev === true ? byteAttribute(FRA.L3MDEV, 1) : numberAttribute(FRA.TABLE, table),
    byteAttribute(FRA.PROTOCOL, protocol),
    ...(from === undefined ? [] : [attribute(FRA.SRC, ipToBytes(addressOf(from)))]),
    ...(to === undefined ? [] : [attribute(FRA.DST, ipToBytes(addressOf(to)))]),
    ...(fwmark === undefined ? [] : [numberAttribute(FRA.FWMARK, fwmark), numberAttribute(FRA.FWMASK, fwmask)]),
    ...(iif === undefined ? [] : [textAttribute(FRA.IIFNAME, iif)]),
  ]);
};

const optional = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
