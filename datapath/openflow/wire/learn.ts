/** The action `learn` in bytes: `struct nx_action_learn2` in Open vSwitch's lib/ofp-actions.c. */
import { invalid } from '../errors.ts';
import { fieldByName } from '../text/fields.ts';
import { cut, splitTopLevel } from '../text/split.ts';
import { parseNumber } from '../text/values.ts';
import type { ByteWriter } from './byte-writer.ts';
import { writeNicira } from './nicira.ts';
import { numberBytes, sizeOf } from './oxm.ts';

const LEARN2 = 45;
/** Of the header of a specification: where the value is from, and what becomes of it. */
const IMMEDIATE = 0x2000;
const OUTPUT = 0x1000;
/** `NX_LEARN_F_DELETE_LEARNED`. */
const DELETE_LEARNED = 2;

/** Here fields have the names of Nicira's extended match, not those of OpenFlow: by the name in `set_field`. */
const NXM: Readonly<Record<string, readonly [header: number, bits: number]>> = {
  in_port: [0x0000_0002, 16],
  eth_type: [0x0000_0602, 16],
  nw_proto: [0x0000_0c01, 8],
  arp_op: [0x0000_1e02, 16],
  arp_spa: [0x0000_2004, 32],
  arp_tpa: [0x0000_2204, 32],
  icmpv6_type: [0x0001_2a01, 8],
  nd_target: [0x0001_2e10, 128],
};

const nxmOf = (name: string): readonly [header: number, bits: number] => {
  const found = NXM[fieldByName(name)?.set ?? name];
  if (found === undefined) throw invalid(`the bytes of ${name} in learn are not known`);
  return found;
};

/** What says how the flow is, not what it matches. */
const SETTINGS = ['hard_timeout', 'idle_timeout', 'priority', 'cookie', 'table', 'limit'] as const;
type Setting = (typeof SETTINGS)[number];

const isSetting = (name: string): name is Setting => (SETTINGS as readonly string[]).includes(name);

/** @param inner between the brackets */
export const writeLearn = (writer: ByteWriter, inner: string): ByteWriter => {
  const settings = new Map<Setting, bigint>();
  const specifications: string[] = [];
  let flags = 0;
  for (const text of splitTopLevel(inner)) {
    const [name, value] = cut(text, '=');
    if (isSetting(name)) settings.set(name, parseNumber(value ?? ''));
    else if (text === 'delete_learned') flags |= DELETE_LEARNED;
    else specifications.push(text);
  }
  const number = (name: Setting, otherwise = 0): number => Number(settings.get(name) ?? otherwise);
  return writeNicira(writer, LEARN2, () => {
    writer.u16(number('idle_timeout')).u16(number('hard_timeout')).u16(number('priority', DEFAULT_PRIORITY));
    // A pad, and timeouts after FIN.
    writer
      .bytes(numberBytes(8, settings.get('cookie') ?? 0n))
      .u16(flags)
      .u8(number('table', 1))
      .zeros(5);
    // Where to say whether the limit was reached: nowhere.
    writer.u32(number('limit')).zeros(4);
    for (const text of specifications) writeSpecification(writer, text);
  });
};

const DEFAULT_PRIORITY = 32_768;

/** `eth_type=0x806`, `NXM_OF_ARP_SPA[]=NXM_OF_ARP_TPA[]`, `NXM_NX_ND_TARGET[]`, `output:NXM_OF_IN_PORT[]` */
const writeSpecification = (writer: ByteWriter, text: string): ByteWriter => {
  const output = wholeField(text.startsWith('output:') ? text.slice('output:'.length) : '');
  if (output !== undefined) {
    const [header, bits] = nxmOf(output);
    return writer
      .u16(OUTPUT | bits)
      .u32(header)
      .u16(0);
  }
  const [left, right = left] = cut(text, '=');
  const [header, bits] = nxmOf(wholeField(left) ?? left);
  const source = wholeField(right);
  if (source === undefined) {
    // In whole units of sixteen bits.
    writer.u16(IMMEDIATE | bits).bytes(numberBytes(sizeOf(bits + 8) & ~1, parseNumber(right)));
  } else {
    const [sourceHeader, sourceBits] = nxmOf(source);
    if (sourceBits !== bits) throw invalid(`the bytes of ${text} in learn are not known`);
    writer.u16(bits).u32(sourceHeader).u16(0);
  }
  return writer.u32(header).u16(0);
};

/** `NXM_OF_ARP_TPA[]` */
const wholeField = (text: string): string | undefined => (text.endsWith('[]') ? text.slice(0, -2) : undefined);
