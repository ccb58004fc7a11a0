/**
 * What `ovs-ofctl -O OpenFlow15 -mmm -vvconn:console:dbg monitor BRIDGE watch:!initial` writes to stderr, line by line.
 *
 * The text of an event has table, cookie, match and actions but not the priority; the dump of the message's bytes that
 * `-mmm` adds after it has. The log says when the switch has answered the request, and then a barrier: what is told between the
 * two ovs-ofctl throws away (`vconn_transact_noreply()` in `set_packet_in_format()`), from then on no change is missed. (The
 * answer itself goes to stdout, where it would wait in a buffer.)
 */

import { memo } from '../../../base/memo.ts';
import { syntaxError } from '../errors.ts';
import { type CanonicalFlow, fieldsOf, printedCookie, printedFlow } from './flow.ts';
import { HexDump } from './hex-dump.ts';

export type MonitorEvent =
  /** From now on changes are reported. */
  | { readonly kind: 'ready' }
  /** Its texts may be views of the whole output: what is kept has to be copied. */
  | { readonly kind: 'present' | 'deleted'; readonly flow: CanonicalFlow }
  /**
   * The switch had more to report than it keeps for a slow reader. Of flows that changed several times meanwhile it has
   * reported only how they are now (`ofmonitor_report()` in Open vSwitch's connmgr.c); flows that came and went it has not
   * reported.
   */
  | { readonly kind: 'resumed' };

export class FlowMonitorReader {
  #lines: string[] = [];
  #dump: HexDump | undefined;
  #isAccepted = false;

  /** @returns what the line completed. @throws OpenflowError ERR_OPENFLOW_SYNTAX when nothing after it can be trusted */
  push(line: string): readonly MonitorEvent[] {
    if (this.#dump === undefined) return this.#begin(line);
    if (line.startsWith(EVENT)) this.#lines.push(line);
    else this.#dump.push(line);
    if (!this.#dump.isComplete) return NOTHING;
    const events = zip(this.#lines, entriesOf(this.#dump.bytes));
    this.#lines = [];
    this.#dump = undefined;
    return events;
  }

  #begin(line: string): readonly MonitorEvent[] {
    // In the log, too, there is a line for every flow.
    if (line.startsWith(EVENT)) return NOTHING;
    if (EVENTS.test(line)) this.#dump = new HexDump();
    if (ACCEPTED.test(line)) this.#isAccepted = true;
    return this.#isAccepted && BARRIER.test(line) ? [{ kind: 'ready' }] : NOTHING;
  }
}

const NOTHING: readonly MonitorEvent[] = [];
const EVENT = ' event=';
const EVENTS = /^OFPST_FLOW_MONITOR reply \(OF1\.[56]\) \(xid=0x0\):(?: flags=\[more\])?$/;
const ACCEPTED = /\|vconn\|DBG\|.*: received: OFPST_FLOW_MONITOR reply \(OF1\.[56]\) \(xid=0x[1-9a-f][0-9a-f]*\):$/;
const BARRIER = /\|vconn\|DBG\|.*: received: OFPT_BARRIER_REPLY \(OF1\.[56]\) \(xid=0x[0-9a-f]+\):$/;

interface Entry {
  readonly event: number;
  readonly table: number;
  readonly priority: number;
  /** In halves: no number is as long. */
  readonly cookie: Cookie;
}

interface Cookie {
  readonly high: number;
  readonly low: number;
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
  if (length < FULL_ENTRY) return { event, table: 0, priority: 0, cookie: NO_COOKIE };
  return {
    event,
    table: bytes.getUint8(at + 4),
    priority: bytes.getUint16(at + 10),
    cookie: { high: bytes.getUint32(at + 16), low: bytes.getUint32(at + 20) },
  };
};

const NO_COOKIE: Cookie = { high: 0, low: 0 };

/** `enum ofp_flow_update_event`. */
const EVENT_NAMES = ['INITIAL', 'ADDED', 'DELETED', 'MODIFIED', 'ABBREV', 'PAUSED', 'RESUMED'] as const;

const zip = (lines: readonly string[], entries: readonly Entry[]): MonitorEvent[] => {
  if (lines.length !== entries.length) throw syntaxError('as many events as there are entries', lines.join('\n'));
  const events: MonitorEvent[] = [];
  for (const [index, entry] of entries.entries()) {
    const event = eventOf(lines[index] ?? '', entry);
    if (event !== undefined) events.push(event);
  }
  return events;
};

const eventOf = (line: string, entry: Entry): MonitorEvent | undefined => {
  const name = EVENT_NAMES[entry.event];
  if (name === undefined || !line.startsWith(name, EVENT.length)) throw syntaxError('the event of its entry', line);
  switch (name) {
    case 'PAUSED':
    // Of changes made over the monitor's own connection, and it makes none.
    case 'ABBREV':
      return undefined;
    case 'RESUMED':
      return { kind: 'resumed' };
    default:
      return {
        kind: name === 'DELETED' ? 'deleted' : 'present',
        flow: flowOf(line, EVENT.length + name.length, entry),
      };
  }
};

/**
 * `reason=group_delete table=11 cookie=0x5 ip,in_port=1 actions=drop`: looked at character by character, since a regular
 * expression for each line would take as long as everything else that is done for a flow.
 *
 * @param start behind the name of the event
 */
const flowOf = (line: string, start: number, { table, priority, cookie }: Entry): CanonicalFlow => {
  const words = new Words(line, start);
  words.skip(REASON, isWordCode);
  const tableEnd = words.skip(TABLE, isDigitCode);
  const tableText = words.last;
  while (words.skipTimeout());
  const cookieEnd = words.skip(COOKIE, isHexCode);
  if (tableEnd < 0 || cookieEnd < 0) throw syntaxError('an event of a flow', line);
  const printed = printedCookies(words.last);
  const isOf = Number(tableText) === table && printed.high === cookie.high && printed.low === cookie.low;
  if (!isOf || tableText.length > LONGEST_NUMBER) throw syntaxError('the flow of its entry', line);
  const from = line.charCodeAt(cookieEnd) === BLANK ? cookieEnd + 1 : cookieEnd;
  const at = line.indexOf(ACTIONS, from);
  const match = line.slice(from, at < 0 ? line.length : at);
  const actions = at < 0 ? 'drop' : line.slice(at + ACTIONS.length);
  return printedFlow(table, priority, { match: fieldsOf(match), cookie: printed.text, actions });
};

const REASON = ' reason=';
const TABLE = ' table=';
const COOKIE = ' cookie=';
const TIMEOUT = '_timeout';
const ACTIONS = 'actions=';
const LONGEST_NUMBER = 16;

/** Goes through a line from word to word. */
class Words {
  readonly #line: string;
  #at: number;
  /** The value that was skipped last. */
  last = '';

  constructor(line: string, start: number) {
    this.#line = line;
    this.#at = start;
  }

  /** @returns behind the value; -1, and nothing is skipped, if there is no such word */
  skip(name: string, isOfValue: (code: number) => boolean): number {
    if (!this.#line.startsWith(name, this.#at)) return -1;
    const from = this.#at + name.length;
    const end = this.#endOf(from, isOfValue);
    if (end === from) return -1;
    this.last = this.#line.slice(from, end);
    this.#at = end;
    return end;
  }

  /** ` idle_timeout=10` */
  skipTimeout(): boolean {
    if (this.#line.charCodeAt(this.#at) !== BLANK) return false;
    const end = this.#endOf(this.#at + 1, isWordCode);
    const name = this.#line.slice(this.#at, end);
    return name.endsWith(TIMEOUT) && name.length > TIMEOUT.length + 1 && this.skip(`${name}=`, isDigitCode) >= 0;
  }

  #endOf(from: number, isOf: (code: number) => boolean): number {
    let end = from;
    while (isOf(this.#line.charCodeAt(end))) end++;
    return end;
  }
}

const BLANK = 0x20;

const isDigitCode = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isWordCode = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || code === 0x5f;
const isHexCode = (code: number): boolean => isDigitCode(code) || (code >= 0x61 && code <= 0x66) || code === 0x78;

const LOW = (1n << 32n) - 1n;

/** Few cookies, many flows. */
const printedCookies = memo((text) => {
  const printed = printedCookie(text);
  const value = BigInt(printed);
  return { text: printed, high: Number(value >> 32n), low: Number(value & LOW) };
});
