import type { ByteWriter } from './byte-writer.ts';

/** An action of Open vSwitch's own: `struct ext_action_header` in lib/ofp-actions.c, and what `write` adds. */
export const writeNicira = (writer: ByteWriter, subtype: number, write: () => unknown): ByteWriter => {
  const start = writer.length;
  writer.u16(EXPERIMENTER).u16(0).u32(VENDOR).u16(subtype);
  write();
  // Even an action without arguments has sixteen bytes.
  if (writer.length - start < LEAST) writer.zeros(LEAST - (writer.length - start));
  writer.pad(start);
  return writer.putU16(start + 2, writer.length - start);
};

const EXPERIMENTER = 0xffff;
/** `NX_VENDOR_ID`. */
const VENDOR = 0x2320;
const LEAST = 16;
