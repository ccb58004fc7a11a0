/** Actions in bytes, from the one form: OpenFlow 1.5.1, 7.2.6, and Open vSwitch's own (include/openvswitch/ofp-actions.h). */

import { memo } from '../../../base/memo.ts';
import { invalid } from '../errors.ts';
import { arrow, callOf, cut, splitTopLevel } from '../text/split.ts';
import { parseNumber } from '../text/values.ts';
import { ByteWriter } from './byte-writer.ts';
import { writeCt } from './ct.ts';
import { writeLearn } from './learn.ts';
import { writeNicira } from './nicira.ts';
import { encodeOxm, oxmField, oxmHeader, oxmPart } from './oxm.ts';

/** Empty for `drop`. @throws OpenflowError ERR_OPENFLOW_INVALID when their bytes are not known */
export const encodeActions: (text: string) => Uint8Array = memo((text) => {
  const writer = new ByteWriter();
  if (text !== 'drop') for (const action of splitTopLevel(text)) writeAction(writer, action);
  return Uint8Array.from(writer.written);
});

const ACTION = { output: 0, pushVlan: 17, popVlan: 18, group: 22, decTtl: 24, setField: 25, copyField: 28 } as const;
const NICIRA_ACTION = { resubmit: 14, conjunction: 34, ctClear: 43, checkSize: 49 } as const;

const RESERVED: Readonly<Record<string, number>> = {
  IN_PORT: 0xffff_fff8,
  TABLE: 0xffff_fff9,
  NORMAL: 0xffff_fffa,
  FLOOD: 0xffff_fffb,
  ALL: 0xffff_fffc,
  LOCAL: 0xffff_fffe,
};
const CONTROLLER = 0xffff_fffd;
const MOST_PORTS = 0xffff_ff00n;

const writeAction = (writer: ByteWriter, action: string): ByteWriter => {
  const reserved = RESERVED[action];
  if (reserved !== undefined) return writeOutput(writer, reserved, 0);
  switch (action) {
    case 'CONTROLLER:65535':
      return writeOutput(writer, CONTROLLER, 65_535);
    case 'pop_vlan':
      return writer.u16(ACTION.popVlan).u16(8).zeros(4);
    case 'dec_ttl':
      return writer.u16(ACTION.decTtl).u16(8).zeros(4);
    case 'ct_clear':
      return writeNicira(writer, NICIRA_ACTION.ctClear, () => undefined);
    default:
      return writeCall(writer, action);
  }
};

const writeCall = (writer: ByteWriter, action: string): ByteWriter => {
  const call = callOf(action);
  switch (call?.name) {
    case 'ct':
      return writeCt(writer, call.inner, encodeActions);
    case 'learn':
      return writeLearn(writer, call.inner);
    case 'resubmit':
      return writeResubmit(writer, call.inner);
    case 'conjunction':
      return writeConjunction(writer, call.inner);
    default:
      return action.startsWith('check_pkt_larger(')
        ? writeCheckSize(writer, action)
        : writeWithArgument(writer, action);
  }
};

const writeWithArgument = (writer: ByteWriter, action: string): ByteWriter => {
  const [name, argument = ''] = cut(action, ':');
  switch (name) {
    case 'output':
      return writeOutput(writer, smallNumber(argument, MOST_PORTS), 0);
    case 'group':
      return writer.u16(ACTION.group).u16(8).u32(smallNumber(argument, MOST_PORTS));
    case 'push_vlan':
      return writer.u16(ACTION.pushVlan).u16(8).u16(smallNumber(argument, 0xffffn)).zeros(2);
    case 'set_field':
      return writeSetField(writer, argument);
    case 'move':
      return writeMove(writer, argument);
    default:
      throw invalid(`the bytes of ${action} are not known`);
  }
};

const smallNumber = (text: string, most: bigint): number => {
  const value = parseNumber(text);
  if (value > most) throw invalid(`${text} is too large`);
  return Number(value);
};

const writeOutput = (writer: ByteWriter, port: number, maxLength: number): ByteWriter =>
  writer.u16(ACTION.output).u16(16).u32(port).u16(maxLength).zeros(6);

const writeSetField = (writer: ByteWriter, argument: string): ByteWriter => {
  const [value, name] = arrow(argument);
  const field = encodeOxm(oxmField(name), value);
  const start = writer.length;
  writer.u16(ACTION.setField).u16(0).bytes(field).pad(start);
  return writer.putU16(start + 2, writer.length - start);
};

/** `move:NXM_NX_REG0[0..3]->NXM_NX_REG1[4..7]` */
const writeMove = (writer: ByteWriter, argument: string): ByteWriter => {
  const [source, destination] = arrow(argument).map(oxmPart);
  if (source === undefined || destination === undefined || source.bits !== destination.bits) {
    throw invalid(`the bytes of move:${argument} are not known`);
  }
  const start = writer.length;
  writer.u16(ACTION.copyField).u16(0).u16(source.bits).u16(source.from).u16(destination.from).zeros(2);
  writer.u32(oxmHeader(source.field)).u32(oxmHeader(destination.field)).pad(start);
  return writer.putU16(start + 2, writer.length - start);
};

/** `check_pkt_larger(1414)->NXM_NX_REG0[0]` */
const writeCheckSize = (writer: ByteWriter, action: string): ByteWriter => {
  const [check, destination] = arrow(action);
  const { field, from, bits } = oxmPart(destination);
  if (bits !== 1) throw invalid(`${destination} is not one bit`);
  const size = smallNumber(callOf(check)?.inner ?? '', 0xffffn);
  return writeNicira(writer, NICIRA_ACTION.checkSize, () => writer.u16(size).u16(from).u32(oxmHeader(field)));
};

/** `resubmit(1,2)`, or without a port. */
const writeResubmit = (writer: ByteWriter, inner: string): ByteWriter => {
  const [, port, table] = /^([0-9]*),([0-9]+)$/.exec(inner) ?? [];
  if (table === undefined) throw invalid(`the bytes of resubmit(${inner}) are not known`);
  const inPort = port === '' || port === undefined ? IN_PORT_10 : smallNumber(port, 0xfeffn);
  return writeNicira(writer, NICIRA_ACTION.resubmit, () => writer.u16(inPort).u8(smallNumber(table, 254n)).zeros(3));
};

/** `conjunction(1,2/3)`: the second of three clauses, which are counted from 0 in bytes. */
const writeConjunction = (writer: ByteWriter, inner: string): ByteWriter => {
  const [, id, clause, clauses] = /^([0-9]+),([0-9]+)\/([0-9]+)$/.exec(inner) ?? [];
  if (id === undefined || clause === undefined || clauses === undefined) {
    throw invalid(`the bytes of conjunction(${inner}) are not known`);
  }
  const [index, count] = [smallNumber(clause, 64n) - 1, smallNumber(clauses, 64n)];
  const number = smallNumber(id, 0xffff_ffffn);
  return writeNicira(writer, NICIRA_ACTION.conjunction, () => writer.u8(index).u8(count).u32(number));
};

/** `OFPP_IN_PORT` of OpenFlow 1.0. */
const IN_PORT_10 = 0xfff8;
