/**
 * What `ovs-ofctl -O OpenFlow15 -mmm -vvconn:console:dbg monitor BRIDGE watch:!initial` writes to stderr, line by line.
 *
 * The text of an event has table, cookie, match and actions but not the priority; the dump of the message's bytes that
 * `-mmm` adds after it has. The log says when the switch has answered the request: from then on no change is missed. (The
 * answer itself goes to stdout, where it would wait in a buffer.)
 */
import { syntaxError } from '../errors.ts';
import { type CanonicalFlow, fieldsOf, printedCookie, printedFlow, printedNumber } from './flow.ts';
import { HexDump } from './hex-dump.ts';

export type MonitorEvent =
  /** From now on changes are told. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'present' | 'deleted'; readonly flow: CanonicalFlow }
  /**
   * The switch had more to tell than it keeps for a slow reader. Of flows that changed several times meanwhile it has told
   * only how they are now (`ofmonitor_report()` in Open vSwitch's connmgr.c); flows that came and went it has not told.
   */
  | { readonly kind: 'resumed' };

export class FlowMonitorReader {
  #lines: string[] = [];
  #dump: HexDump | undefined;

  /** @returns what the line completed. @throws OpenflowError ERR_OPENFLOW_SYNTAX when nothing after it can be trusted */
  push(line: string): readonly MonitorEvent[] {
    if (this.#dump === undefined) return this.#begin(line);
    if (line.startsWith(' event=')) this.#lines.push(line);
    else this.#dump.push(line);
    if (!this.#dump.isComplete) return [];
    const events = zip(this.#lines, entriesOf(this.#dump.bytes));
    this.#lines = [];
    this.#dump = undefined;
    return events;
  }

  #begin(line: string): readonly MonitorEvent[] {
    if (EVENTS.test(line)) this.#dump = new HexDump();
    return READY.test(line) ? [{ kind: 'ready' }] : [];
  }
}

const EVENTS = /^OFPST_FLOW_MONITOR reply \(OF1\.[56]\) \(xid=0x0\):(?: flags=\[more\])?$/;
const READY = /\|vconn\|DBG\|.*: received: OFPST_FLOW_MONITOR reply \(OF1\.[56]\) \(xid=0x[1-9a-f][0-9a-f]*\):$/;

interface Entry {
  readonly event: number;
  readonly table: number;
  readonly priority: number;
  readonly cookie: bigint;
}

const MESSAGE_HEADER = 16;
const SHORT_ENTRY = 8;
const FULL_ENTRY = 24;

/** `struct ofp_flow_update_full` and its short relatives: OpenFlow 1.5.1, 7.3.5.18.2. */
const entriesOf = (bytes: DataView): Entry[] => {
  const entries: Entry[] = [];
  for (let at = MESSAGE_HEADER; at < bytes.byteLength; ) {
    const left = bytes.byteLength - at;
    const length = left < SHORT_ENTRY ? 0 : bytes.getUint16(at);
    if (length < SHORT_ENTRY || length > left) throw syntaxError('a message of a flow monitor', `length ${length}`);
    entries.push(entryAt(bytes, at, length));
    at += length;
  }
  return entries;
};

const entryAt = (bytes: DataView, at: number, length: number): Entry => {
  const event = bytes.getUint16(at + 2);
  if (length < FULL_ENTRY) return { event, table: 0, priority: 0, cookie: 0n };
  return {
    event,
    table: bytes.getUint8(at + 4),
    priority: bytes.getUint16(at + 10),
    cookie: bytes.getBigUint64(at + 16),
  };
};

/** `enum ofp_flow_update_event`. */
const EVENT_NAMES = ['INITIAL', 'ADDED', 'DELETED', 'MODIFIED', 'ABBREV', 'PAUSED', 'RESUMED'] as const;

const zip = (lines: readonly string[], entries: readonly Entry[]): MonitorEvent[] => {
  if (lines.length !== entries.length) throw syntaxError('as many events as there are entries', lines.join('\n'));
  return entries.flatMap((entry, index) => eventOf(lines[index] ?? '', entry));
};

const eventOf = (line: string, entry: Entry): readonly MonitorEvent[] => {
  const name = EVENT_NAMES[entry.event];
  if (name === undefined || !line.startsWith(` event=${name}`)) throw syntaxError('the event of its entry', line);
  switch (name) {
    case 'PAUSED':
    // Of changes made over the monitor's own connection, and it makes none.
    case 'ABBREV':
      return [];
    case 'RESUMED':
      return [{ kind: 'resumed' }];
    default:
      return [{ kind: name === 'DELETED' ? 'deleted' : 'present', flow: flowOf(line, entry) }];
  }
};

const flowOf = (line: string, { table, priority, cookie }: Entry): CanonicalFlow => {
  const [, tableText, cookieText, match = '', actions] =
    /^ event=[A-Z]+(?: reason=[a-z_]+)? table=([0-9]+)(?: [a-z_]+_timeout=[0-9]+)* cookie=([0-9a-fx]+) ?(.*?)(?: ?actions=(.*))?$/.exec(
      line,
    ) ?? [];
  if (tableText === undefined || cookieText === undefined) throw syntaxError('an event of a flow', line);
  const printed = printedCookie(cookieText);
  if (printedNumber(tableText, 255) !== table || BigInt(printed) !== cookie) {
    throw syntaxError('the flow of its entry', line);
  }
  return printedFlow(table, priority, { match: fieldsOf(match), cookie: printed, actions: actions ?? 'drop' });
};
