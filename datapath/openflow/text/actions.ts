/** Actions in the one form in which ovs-ofctl prints them over OpenFlow 1.5 (ovs-actions(7)). */

import { memo } from '../../../base/memo.ts';
import { invalid } from '../errors.ts';
import { canonicalCt } from './ct.ts';
import { fieldByName, portField } from './fields.ts';
import type { CanonicalMatch } from './match.ts';
import { arrow, callOf, cut, splitTopLevel } from './split.ts';
import { canonicalValue, formatNumber, hex, parseNumber } from './values.ts';

/** What the meaning of some actions depends on. */
export type ActionContext = Pick<CanonicalMatch, 'hasVlan' | 'transport'>;

export const NO_CONTEXT: ActionContext = { hasVlan: false, transport: undefined };

/**
 * `drop` for no actions.
 * @throws OpenflowError ERR_OPENFLOW_SYNTAX, ERR_OPENFLOW_INVALID
 */
export const canonicalActions = (text: string, context: ActionContext): string => {
  if (context.hasVlan || context.transport !== undefined) return madeCanonical(text, context);
  return withoutContext(text);
};

const madeCanonical = (text: string, context: ActionContext): string => {
  const state = { hasVlan: context.hasVlan };
  const printed: string[] = [];
  for (const action of splitTopLevel(text)) {
    printed.push(...canonicalAction(action, context, state));
    if (action === 'strip_vlan' || action === 'pop_vlan') state.hasVlan = false;
    if (/^(?:mod_vlan_|push_vlan)/.test(action)) state.hasVlan = true;
  }
  return printed.length === 0 ? 'drop' : printed.join(',');
};

const withoutContext = memo((text) => madeCanonical(text, NO_CONTEXT));

interface State {
  hasVlan: boolean;
}

const canonicalAction = (action: string, context: ActionContext, state: State): readonly string[] => {
  const port = reservedPort(action);
  if (port !== undefined) return [port];
  if (action === 'drop') return [];
  if (action === 'strip_vlan' || action === 'pop_vlan') return ['pop_vlan'];
  const call = callOf(action);
  if (call?.name === 'ct') return [canonicalCt(call.inner, (inner) => canonicalActions(inner, context))];
  if (action.startsWith('check_pkt_larger(')) return [checkSize(action)];
  const [name, argument] = cut(action, ':');
  return argument === undefined ? [action] : withArgument(name, argument, context, state);
};

const withArgument = (name: string, argument: string, context: ActionContext, state: State): readonly string[] => {
  switch (name) {
    case 'output':
      return [reservedPort(argument) ?? `output:${/^[0-9]+$/.test(argument) ? argument : part(argument)}`];
    case 'group':
      return [`group:${parseNumber(argument)}`];
    case 'set_field':
      return [setField(argument)];
    case 'load':
      return [load(argument)];
    case 'move':
      return [move(argument)];
    case 'mod_vlan_vid':
      return tag(state, `set_field:${0x1000n | parseNumber(argument)}->vlan_vid`);
    case 'mod_vlan_pcp':
      return tag(state, `set_field:${parseNumber(argument)}->vlan_pcp`);
    case 'mod_nw_tos':
      return [`set_field:${parseNumber(argument) >> 2n}->ip_dscp`];
    default:
      return [modified(name, argument, context) ?? `${name}:${argument}`];
  }
};

/** The packet is given a tag first, unless the match says that it has one. */
const tag = ({ hasVlan }: State, action: string): readonly string[] =>
  hasVlan ? [action] : ['push_vlan:0x8100', action];

const MODIFIED: Readonly<Record<string, string>> = {
  mod_dl_src: 'eth_src',
  mod_dl_dst: 'eth_dst',
  mod_nw_src: 'ip_src',
  mod_nw_dst: 'ip_dst',
  mod_nw_ecn: 'nw_ecn',
  mod_nw_ttl: 'nw_ttl',
};

const modified = (name: string, argument: string, { transport }: ActionContext): string | undefined => {
  if (Object.hasOwn(MODIFIED, name)) return setField(`${argument}->${MODIFIED[name]}`);
  if (name !== 'mod_tp_src' && name !== 'mod_tp_dst') return undefined;
  if (transport === undefined) throw invalid(`${name} without a match on tcp, udp or sctp`);
  return setField(`${argument}->${portField(name === 'mod_tp_src' ? 'src' : 'dst', transport)}`);
};

const RESERVED = new Set(['LOCAL', 'NORMAL', 'FLOOD', 'ALL', 'IN_PORT', 'TABLE']);

const reservedPort = (text: string): string | undefined => {
  const name = text.toUpperCase();
  if (RESERVED.has(name)) return name;
  return name === 'CONTROLLER' ? 'CONTROLLER:65535' : undefined;
};

const setField = (argument: string): string => {
  const [value, name] = arrow(argument);
  const field = fieldByName(name);
  if (field === undefined) return `set_field:${value}->${name}`;
  const printed = canonicalValue(field, value);
  if (printed === undefined) throw invalid(`set_field:${argument} sets nothing`);
  return `set_field:${printed}->${field.set}`;
};

/** `load` into a field, or into bits of it, is printed as `set_field`. */
const load = (argument: string): string => {
  const [text, destination] = arrow(argument);
  const { name, from, to } = bitsOf(destination);
  const field = fieldByName(name);
  if (field === undefined) return `load:${text}->${destination}`;
  const value = parseNumber(text);
  if (from === undefined) return `set_field:${formatNumber(field.kind, value)}->${field.set}`;
  const width = BigInt((to ?? from) - from + 1);
  const mask = ((1n << width) - 1n) << BigInt(from);
  const shifted = value << BigInt(from);
  if ((shifted & ~mask) !== 0n) throw invalid(`load:${argument} is too large for its bits`);
  return setField(`${hex(shifted)}/${hex(mask)}->${field.set}`);
};

const move = (argument: string): string => {
  const [source, destination] = arrow(argument);
  return `move:${part(source)}->${part(destination)}`;
};

const checkSize = (action: string): string => {
  const [check, destination] = arrow(action);
  const size = callOf(check)?.inner ?? '';
  return `check_pkt_larger(${parseNumber(size)})->${part(destination)}`;
};

/** `reg0[0..3]` → `NXM_NX_REG0[0..3]`, `eth_dst` → `NXM_OF_ETH_DST[]`. */
export const part = (text: string): string => {
  const { name, bits } = bitsOf(text);
  return `${fieldByName(name)?.nxm ?? name}[${bits}]`;
};

interface Bits {
  readonly name: string;
  /** Between the brackets. */
  readonly bits: string;
  readonly from?: number;
  readonly to?: number;
}

/** @throws OpenflowError ERR_OPENFLOW_INVALID */
export const bitsOf = (text: string): Bits => {
  const [, name, bits = ''] = /^([A-Za-z][A-Za-z0-9_]*)(?:\[([0-9.]*)\])?$/.exec(text) ?? [];
  if (name === undefined) throw invalid(`${JSON.stringify(text)} is not a field`);
  if (bits === '') return { name, bits };
  const [, from, to] = /^([0-9]{1,4})(?:\.\.([0-9]{1,4}))?$/.exec(bits) ?? [];
  if (from === undefined || Number(to ?? from) < Number(from)) throw invalid(`[${bits}] is not a range of bits`);
  return { name, bits, from: Number(from), ...(to === undefined ? {} : { to: Number(to) }) };
};
