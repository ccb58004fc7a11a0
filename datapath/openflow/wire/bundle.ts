/** Bundles in bytes: OpenFlow 1.5.1, 7.3.9. */
import { OpenflowError } from '../errors.ts';
import type { BundleOp } from '../switch-client.ts';
import { memo } from '../text/memo.ts';
import { encodeActions } from './actions.ts';
import { ByteWriter } from './byte-writer.ts';
import { encodeIdentity, writeMatch } from './match.ts';
import { numberBytes } from './oxm.ts';

/** OpenFlow 1.5, which has buckets that are added and removed one by one. */
export const VERSION = 6;

const MESSAGE = { hello: 0, flowMod: 14, groupMod: 15, barrierRequest: 20, bundleControl: 33, bundleAdd: 34 } as const;
export const BARRIER_REPLY = 21;
export const BUNDLE_REPLY = 33;
/** Types of bundle control. */
const OPEN = 0;
const COMMIT = 4;
export const COMMITTED = 5;
/** `OFPBF_ATOMIC`, `OFPBF_ORDERED`. */
const FLAGS = 1 | 2;
/** A connection has one bundle. */
const BUNDLE = 0;
const HEADER = 8;

/** Greets the bridge, and begins a bundle. */
export const encodeOpen = (): Uint8Array => {
  const writer = new ByteWriter();
  const start = begin(writer, MESSAGE.hello);
  writer
    .u16(VERSION_BITMAP)
    .u16(8)
    .u32(1 << VERSION);
  return writeControl(end(writer, start), OPEN).written;
};

/** `OFPHET_VERSIONBITMAP`. */
const VERSION_BITMAP = 1;

/** It is answered when everything before it was taken, or refused. */
export const encodeBarrier = (): Uint8Array => {
  const writer = new ByteWriter();
  return end(writer, begin(writer, MESSAGE.barrierRequest)).written;
};

/** It is answered when the bundle is done, or refused. */
export const encodeCommit = (): Uint8Array => writeControl(new ByteWriter(), COMMIT).written;

const writeControl = (writer: ByteWriter, type: number): ByteWriter => {
  const start = begin(writer, MESSAGE.bundleControl);
  return end(writer.u32(BUNDLE).u16(type).u16(FLAGS), start);
};

/** Undefined if there is something among them whose bytes are not known here: ovs-ofctl knows all. */
export const encodeSteps = (ops: readonly BundleOp[]): Uint8Array | undefined => {
  const writer = new ByteWriter(ops.length * USUAL_SIZE);
  try {
    for (const op of ops) {
      const start = begin(writer, MESSAGE.bundleAdd);
      writeStep(writer.u32(BUNDLE).zeros(2).u16(FLAGS), op);
      end(writer, start);
    }
  } catch (error) {
    if (error instanceof OpenflowError) return undefined;
    throw error;
  }
  return writer.written;
};

const USUAL_SIZE = 256;

/** All have the same number: who was refused is asked of ovs-ofctl, which has words for it. @returns for `end` */
const begin = (writer: ByteWriter, type: number): number => {
  const start = writer.length;
  writer.u8(VERSION).u8(type).zeros(2).u32(1);
  return start;
};

const end = (writer: ByteWriter, start: number): ByteWriter => writer.putU16(start + 2, writer.length - start);

const writeStep = (writer: ByteWriter, op: BundleOp): ByteWriter => {
  switch (op.op) {
    case 'addFlow':
      return writeFlow(writer, FLOW.add, op.flow.identity, cookieBytes(op.flow.cookie), op.flow.actions);
    case 'deleteFlow':
      return writeFlow(writer, FLOW.deleteStrict, op.identity, cookieBytes('0'), 'drop');
    case 'addGroup':
      return writeGroup(writer, GROUP.add, op.group, ALL_BUCKETS);
    case 'resetGroup':
      return writeGroup(writer, GROUP.modify, op.group, ALL_BUCKETS);
    case 'deleteGroup':
      return writeGroup(writer, GROUP.delete, op.group, ALL_BUCKETS);
    case 'insertBucket':
      return writeGroup(writer, GROUP.insertBucket, op.group, LAST_BUCKET, op);
    case 'removeBucket':
      return writeGroup(writer, GROUP.removeBucket, op.group, op.bucket);
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
  command: number,
  identity: string,
  cookie: Uint8Array,
  actions: string,
): ByteWriter => {
  const { table, priority, fields } = encodeIdentity(identity);
  const encoded = encodeActions(actions);
  const start = begin(writer, MESSAGE.flowMod);
  // No mask of the cookie; no timeouts, flags or importance.
  writer.bytes(cookie).zeros(8).u8(table).u8(command).zeros(4).u16(priority);
  writer.u32(ANY).u32(ANY).u32(ANY).zeros(4);
  writeMatch(writer, fields);
  if (encoded.length > 0)
    writer
      .u16(APPLY_ACTIONS)
      .u16(HEADER + encoded.length)
      .zeros(4)
      .bytes(encoded);
  return end(writer, start);
};

/** `struct ofp_group_mod`, of type `all`. */
const writeGroup = (
  writer: ByteWriter,
  command: number,
  group: number,
  place: number,
  bucket?: { readonly bucket: number; readonly actions: string },
): ByteWriter => {
  const actions = bucket === undefined ? undefined : encodeActions(bucket.actions);
  const length = actions === undefined ? 0 : HEADER + actions.length;
  const start = begin(writer, MESSAGE.groupMod);
  writer.u16(command).zeros(2).u32(group).u16(length).zeros(2).u32(place);
  if (bucket !== undefined && actions !== undefined) {
    writer.u16(length).u16(actions.length).u32(bucket.bucket).bytes(actions);
  }
  return end(writer, start);
};
