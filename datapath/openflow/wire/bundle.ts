/** Bundles in bytes: OpenFlow 1.5.1, 7.3.9. */

import { memo } from '../../../base/memo.ts';
import { invalid, OpenflowError } from '../errors.ts';
import type { BundleOp } from '../switch-client.ts';
import type { CanonicalFlow } from '../text/flow.ts';
import { encodeActions } from './actions.ts';
import { ByteWriter } from './byte-writer.ts';
import { encodeIdentity, writeMatch } from './match.ts';
import { encode, HEADER_LENGTH } from './message.ts';
import { numberBytes } from './oxm.ts';

/** OpenFlow 1.5, which has buckets that are added and removed one by one. */
export const VERSION = 6;

const MESSAGE = { flowMod: 14, groupMod: 15, barrierRequest: 20, bundleControl: 33, bundleAdd: 34 } as const;
export const BARRIER_REPLY = 21;
export const BUNDLE_REPLY = 33;
/** The type of the answer to `COMMIT`. */
export const COMMITTED = 5;
/** `OFPBF_ATOMIC`, `OFPBF_ORDERED`. */
const FLAGS = 1 | 2;
/** A connection has one bundle. */
const BUNDLE = 0;

/** An error has the number of the step that was refused; these messages have none. */
export const FIRST_STEP = 1;

const control = (type: number): Uint8Array =>
  encode(VERSION, MESSAGE.bundleControl, 0, Buffer.from([0, 0, 0, BUNDLE, 0, type, 0, FLAGS]));

export const OPEN = control(0);
/** It is answered when everything before it was taken, or refused. */
export const BARRIER = encode(VERSION, MESSAGE.barrierRequest, 0);
/** It is answered when the bundle is done, or refused. */
export const COMMIT = control(4);

/**
 * @param firstXid of the first step; the others follow
 * @throws OpenflowError ERR_OPENFLOW_INVALID when one of them cannot be encoded
 */
export const encodeSteps = (ops: readonly BundleOp[], firstXid: number = FIRST_STEP): Uint8Array => {
  const writer = new ByteWriter(ops.length * USUAL_SIZE);
  let xid = firstXid;
  try {
    for (const op of ops) {
      const start = begin(writer, MESSAGE.bundleAdd, xid);
      writeStep(writer.u32(BUNDLE).zeros(2).u16(FLAGS), op, xid);
      end(writer, start);
      xid++;
    }
  } catch (error) {
    throw error instanceof OpenflowError ? invalid(error.message) : error;
  }
  return writer.written;
};

const USUAL_SIZE = 256;

/** @returns for `end` */
const begin = (writer: ByteWriter, type: number, xid: number): number => {
  const start = writer.length;
  writer.u8(VERSION).u8(type).zeros(2).u32(xid);
  return start;
};

const end = (writer: ByteWriter, start: number): ByteWriter => {
  const length = writer.length - start;
  if (length > LONGEST) throw invalid(`a message of ${length} bytes is too long`);
  return writer.putU16(start + 2, length);
};

const LONGEST = 0xffff;

const writeStep = (writer: ByteWriter, op: BundleOp, xid: number): ByteWriter => {
  switch (op.op) {
    case 'addFlow':
      return writeFlow(writer, xid, FLOW.add, op.flow);
    case 'deleteFlow':
      return writeFlow(writer, xid, FLOW.deleteStrict, { identity: op.identity, cookie: '0', actions: 'drop' });
    case 'addGroup':
      return writeGroup(writer, xid, GROUP.add, op.group, ALL_BUCKETS);
    case 'resetGroup':
      return writeGroup(writer, xid, GROUP.modify, op.group, ALL_BUCKETS);
    case 'deleteGroup':
      return writeGroup(writer, xid, GROUP.delete, op.group, ALL_BUCKETS);
    case 'insertBucket':
      return writeGroup(writer, xid, GROUP.insertBucket, op.group, LAST_BUCKET, op);
    case 'removeBucket':
      return writeGroup(writer, xid, GROUP.removeBucket, op.group, op.bucket);
  }
};

const FLOW = { add: 0, deleteStrict: 4 } as const;
const GROUP = { add: 0, modify: 1, delete: 2, insertBucket: 3, removeBucket: 5 } as const;
/** `OFPG_BUCKET_LAST`, `OFPG_BUCKET_ALL`. */
const LAST_BUCKET = 0xffff_fffe;
const ALL_BUCKETS = 0xffff_ffff;
/** `OFP_NO_BUFFER`, `OFPP_ANY`, `OFPG_ANY`. */
const ANY = 0xffff_ffff;
/** `OFPIT_APPLY_ACTIONS`. */
const APPLY_ACTIONS = 4;

/** Few cookies, many flows. */
const cookieBytes = memo((text) => numberBytes(8, BigInt(text)), 64);

/** `struct ofp_flow_mod`. */
const writeFlow = (
  writer: ByteWriter,
  xid: number,
  command: number,
  { identity, cookie, actions }: CanonicalFlow,
): ByteWriter => {
  const { table, priority, fields } = encodeIdentity(identity);
  const encoded = encodeActions(actions);
  const start = begin(writer, MESSAGE.flowMod, xid);
  // No mask of the cookie; no timeouts, flags or importance.
  writer.bytes(cookieBytes(cookie)).zeros(8).u8(table).u8(command).zeros(4).u16(priority);
  writer.u32(ANY).u32(ANY).u32(ANY).zeros(4);
  writeMatch(writer, fields);
  if (encoded.length > 0)
    writer
      .u16(APPLY_ACTIONS)
      .u16(HEADER_LENGTH + encoded.length)
      .zeros(4)
      .bytes(encoded);
  return end(writer, start);
};

/** `struct ofp_group_mod`, of type `all`. */
const writeGroup = (
  writer: ByteWriter,
  xid: number,
  command: number,
  group: number,
  place: number,
  bucket?: { readonly bucket: number; readonly actions: string },
): ByteWriter => {
  const actions = bucket === undefined ? undefined : encodeActions(bucket.actions);
  const length = actions === undefined ? 0 : HEADER_LENGTH + actions.length;
  const start = begin(writer, MESSAGE.groupMod, xid);
  writer.u16(command).zeros(2).u32(group).u16(length).zeros(2).u32(place);
  if (bucket !== undefined && actions !== undefined) {
    writer.u16(length).u16(actions.length).u32(bucket.bucket).bytes(actions);
  }
  return end(writer, start);
};
