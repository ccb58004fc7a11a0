/**
 * Rules of frame filters as expressions of nf_tables: each test loads bytes into a register and compares them. What is equal for all
 * pods is encoded once: attributes are nested five deep, and encoding them took twice as long as the kernel takes for all of a filter.
 */
import { endianness } from 'node:os';
import { attribute, nested, textAttribute } from '../wire/attributes.ts';
import {
  NF_ACCEPT,
  NF_DROP,
  NFT_CMP,
  NFT_JUMP,
  NFT_LOOKUP_F_INV,
  NFT_META_LEN,
  NFT_META_MARK,
  NFT_META_RTCLASSID,
  NFT_META_SKUID,
  NFT_PAYLOAD_LL_HEADER,
  NFT_REG,
  NFT_RETURN,
  NFTA_BITWISE,
  NFTA_CMP,
  NFTA_DATA,
  NFTA_EXPR,
  NFTA_IMMEDIATE,
  NFTA_LIST_ELEM,
  NFTA_LOOKUP,
  NFTA_META,
  NFTA_PAYLOAD,
  NFTA_VERDICT,
  REGISTER_BYTES,
} from './constants.ts';
import { type FrameTest, LOCKED_SET, type SharedRule } from './types.ts';

export const ruleExpressions = ({ tests, verdict }: SharedRule): Buffer[] => [
  ...tests.flatMap(testExpressions),
  once(verdict, () => immediate(numberOf(NFTA_VERDICT.CODE, VERDICTS[verdict]))),
];

/** Every frame is for another chain first, and for what follows when that returns. */
export const jumpExpression = (chain: string): Buffer =>
  immediate(numberOf(NFTA_VERDICT.CODE, NFT_JUMP), textAttribute(NFTA_VERDICT.CHAIN, chain));

const VERDICTS = { accept: NF_ACCEPT, drop: NF_DROP, return: NFT_RETURN } as const;

/** nf_tables has its numbers in network byte order. */
export const numberOf = (type: number, value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value | 0);
  return attribute(type, bytes);
};

const SENDER_OFFSET = 6;
const MAC_BYTES = 6;

const testExpressions = (test: FrameTest): Buffer[] => {
  if ('length' in test) return [once('length', () => meta(NFT_META_LEN)), compare(NFT_CMP.EQ, hostNumber(test.length))];
  if ('origin' in test) return originExpressions(test.origin);
  if ('sender' in test) return [load(SENDER_OFFSET, MAC_BYTES), lookup(LOCKED_SET, test.sender === 'not locked')];
  if ('from' in test) {
    return [
      load(test.at, 1),
      compare(NFT_CMP.GTE, Uint8Array.of(test.from)),
      compare(NFT_CMP.LTE, Uint8Array.of(test.to)),
    ];
  }
  const bytes = Buffer.from(test.is, 'hex');
  if (bytes.length > REGISTER_BYTES) throw new RangeError(`${test.is} does not fit a register`);
  if (test.mask === undefined) return [equal(test.at, bytes)];
  return [load(test.at, bytes.length), mask(Buffer.from(test.mask, 'hex')), compare(NFT_CMP.EQ, bytes)];
};

/** The value is what both expressions end with, but for its padding. */
const equal = (at: number, bytes: Buffer): Buffer => {
  const { length } = bytes;
  const made = Buffer.from(
    once(`${at}/${length}`, () => Buffer.concat([load(at, length), compare(NFT_CMP.EQ, Buffer.alloc(length))])),
  );
  made.set(bytes, made.length - Math.ceil(length / 4) * 4);
  return made;
};

/** By what they are: verdicts, and offsets and lengths that rules have. */
const encoded = new Map<string, Buffer>();

const once = (key: string, encode: () => Buffer): Buffer => {
  const known = encoded.get(key) ?? encode();
  encoded.set(key, known);
  return known;
};

const immediate = (...verdict: readonly Uint8Array[]): Buffer =>
  expression('immediate', [
    numberOf(NFTA_IMMEDIATE.DREG, NFT_REG.VERDICT),
    nested(NFTA_IMMEDIATE.DATA, nested(NFTA_DATA.VERDICT, ...verdict)),
  ]);

/** What there is nothing of to load fails the rule (nft_meta_get_eval). The comparison is for nft, which would not list the test. */
const originExpressions = (origin: Extract<FrameTest, { origin: unknown }>['origin']): Buffer[] => {
  if (origin === 'marked') return [meta(NFT_META_MARK), compare(NFT_CMP.NEQ, hostNumber(0))];
  return [meta(origin === 'routed' ? NFT_META_RTCLASSID : NFT_META_SKUID), compare(NFT_CMP.GTE, hostNumber(0))];
};

const expression = (name: string, data: readonly Uint8Array[]): Buffer =>
  nested(NFTA_LIST_ELEM, textAttribute(NFTA_EXPR.NAME, name), nested(NFTA_EXPR.DATA, ...data));

const load = (offset: number, length: number): Buffer =>
  expression('payload', [
    numberOf(NFTA_PAYLOAD.DREG, NFT_REG.FIRST),
    numberOf(NFTA_PAYLOAD.BASE, NFT_PAYLOAD_LL_HEADER),
    numberOf(NFTA_PAYLOAD.OFFSET, offset),
    numberOf(NFTA_PAYLOAD.LEN, length),
  ]);

const meta = (key: number): Buffer =>
  expression('meta', [numberOf(NFTA_META.DREG, NFT_REG.FIRST), numberOf(NFTA_META.KEY, key)]);

const compare = (operator: number, bytes: Uint8Array): Buffer =>
  expression('cmp', [
    numberOf(NFTA_CMP.SREG, NFT_REG.FIRST),
    numberOf(NFTA_CMP.OP, operator),
    nested(NFTA_CMP.DATA, attribute(NFTA_DATA.VALUE, bytes)),
  ]);

const mask = (bytes: Uint8Array): Buffer =>
  expression('bitwise', [
    numberOf(NFTA_BITWISE.SREG, NFT_REG.FIRST),
    numberOf(NFTA_BITWISE.DREG, NFT_REG.FIRST),
    numberOf(NFTA_BITWISE.LEN, bytes.length),
    nested(NFTA_BITWISE.MASK, attribute(NFTA_DATA.VALUE, bytes)),
    nested(NFTA_BITWISE.XOR, attribute(NFTA_DATA.VALUE, Buffer.alloc(bytes.length))),
  ]);

const lookup = (set: string, isInverted: boolean): Buffer =>
  expression('lookup', [
    textAttribute(NFTA_LOOKUP.SET, set),
    numberOf(NFTA_LOOKUP.SREG, NFT_REG.FIRST),
    ...(isInverted ? [numberOf(NFTA_LOOKUP.FLAGS, NFT_LOOKUP_F_INV)] : []),
  ]);

/** The frame's length is a number of the host's own, not one of a packet. */
const hostNumber = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  if (endianness() === 'LE') bytes.writeUInt32LE(value);
  else bytes.writeUInt32BE(value);
  return bytes;
};
