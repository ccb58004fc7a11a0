/** From the desired state, with ports by name, to what a bridge knows, with numbers. Pure. */
import { OpenflowError } from './errors.ts';
import type { PortNumbers } from './port-numbers.ts';
import { canonicalActions, NO_CONTEXT } from './text/actions.ts';
import { type CanonicalFlow, canonicalFlow } from './text/flow.ts';
import { type Action, type BridgeItem, type Flow, LOCAL_PORT } from './types.ts';

export type Compiled =
  | { readonly kind: 'flow'; readonly flow: CanonicalFlow }
  | { readonly kind: 'group'; readonly group: number }
  | { readonly kind: 'bucket'; readonly group: number; readonly bucket: number; readonly actions: string }
  | { readonly kind: 'noFlood'; readonly name: string; readonly port: number }
  /** Its port is not there, and need not be. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'waiting'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

export const compile = (item: BridgeItem, ports: Pick<PortNumbers, 'hasBridge' | 'ofport'>): Compiled => {
  const { bridge } = item;
  if (!ports.hasBridge(bridge)) return { kind: 'waiting', reason: `bridge ${bridge} does not exist yet` };
  for (const port of portsOf(item)) {
    if (ports.ofport(bridge, port) === undefined) {
      if (item.kind === 'flow' && item.flow.mayLackPort === true) return { kind: 'absent' };
      return { kind: 'waiting', reason: `port ${port} is not on bridge ${bridge} yet` };
    }
  }
  try {
    return compiled(item, (port) => numberOf(port, ports.ofport(bridge, port)));
  } catch (error) {
    if (!(error instanceof OpenflowError)) throw error;
    return { kind: 'failed', reason: error.message };
  }
};

/** Names of the ports that an item needs a number of. */
export const portsOf = (item: BridgeItem): readonly string[] => {
  switch (item.kind) {
    case 'flow':
      return named(item.flow.inPort, item.flow.actions);
    case 'bucket':
      return named(undefined, item.bucket.actions);
    case 'noFlood':
      return named(item.noFlood.port, NO_ACTIONS);
    case 'group':
      return NO_PORTS;
  }
};

const NO_PORTS: readonly string[] = [];
const NO_ACTIONS: readonly Action[] = [];

const named = (port: string | undefined, actions: readonly Action[]): readonly string[] => {
  const ports: string[] = [];
  if (port !== undefined && port !== LOCAL_PORT) ports.push(port);
  for (const action of actions) {
    if (typeof action !== 'string' && action.output !== LOCAL_PORT) ports.push(action.output);
  }
  return ports;
};

type NumberOf = (port: string) => string;

const numberOf = (port: string, ofport: number | undefined): string =>
  port === LOCAL_PORT || ofport === undefined ? LOCAL_PORT : String(ofport);

const compiled = (item: BridgeItem, numberOf: NumberOf): Compiled => {
  switch (item.kind) {
    case 'flow':
      return { kind: 'flow', flow: compiledFlow(item.flow, numberOf) };
    case 'group':
      return { kind: 'group', group: checkedId('group', item.group.id, MOST_GROUPS) };
    case 'bucket': {
      const actions = canonicalActions(actionText(item.bucket.actions, numberOf), NO_CONTEXT);
      const group = checkedId('group', item.bucket.group, MOST_GROUPS);
      return { kind: 'bucket', group, bucket: checkedId('bucket', item.bucket.id, MOST_GROUPS), actions };
    }
    case 'noFlood':
      return { kind: 'noFlood', name: item.noFlood.port, port: Number(numberOf(item.noFlood.port)) };
  }
};

/** OFPG_MAX, and OFPG_BUCKET_MAX. */
const MOST_GROUPS = 0xffff_ff00;

const checkedId = (what: string, id: number, most: number): number => {
  if (Number.isInteger(id) && id >= 0 && id <= most) return id;
  throw new OpenflowError('ERR_OPENFLOW_INVALID', `${id} is not a ${what}`);
};

const compiledFlow = (flow: Flow, numberOf: NumberOf): CanonicalFlow => {
  const { table, priority, cookie, inPort } = flow;
  const match: (readonly [string, string | true])[] = [];
  if (inPort !== undefined) match.push(['in_port', numberOf(inPort)]);
  for (const name in flow.match) {
    const value = flow.match[name] ?? '';
    match.push([checkedText(name), value === true ? value : checkedText(value)]);
  }
  return canonicalFlow({ table, priority, cookie, match, actions: actionText(flow.actions, numberOf) });
};

const actionText = (actions: readonly Action[], numberOf: NumberOf): string =>
  actions
    .map((action) => (typeof action === 'string' ? checkedLine(action) : `output:${numberOf(action.output)}`))
    .join(',');

/** A value of a match is one word: a comma or blank in it would begin another field, or another flow. */
const checkedText = (text: string): string => {
  if (/^[^\s,=()]+$/.test(text)) return text;
  throw new OpenflowError('ERR_OPENFLOW_INVALID', `${JSON.stringify(text)} cannot be part of a match`);
};

const checkedLine = (text: string): string => {
  if (!/[\r\n#]/.test(text)) return text;
  throw new OpenflowError('ERR_OPENFLOW_INVALID', `${JSON.stringify(text)} cannot be an action`);
};
