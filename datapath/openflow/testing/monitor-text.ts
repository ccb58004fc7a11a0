/** What `ovs-ofctl -mmm -vvconn:console:dbg monitor` writes for changes of flows: first the log, then the message. */

export interface ReportedFlow {
  readonly event: 'ADDED' | 'DELETED' | 'MODIFIED';
  readonly table: number;
  readonly priority: number;
  readonly cookie: bigint;
  /** As ovs-ofctl prints it; empty for all packets. */
  readonly match: string;
  /** Undefined: none. */
  readonly actions: string | undefined;
  /** Of the match and the instructions, which nothing is read from; their number is a multiple of 8. */
  readonly rest: Uint8Array;
}

export const monitorLines = (flows: readonly ReportedFlow[]): string[] => {
  const texts = flows.map(textOf);
  return [
    '2026-01-01T00:00:00Z|00009|vconn|DBG|unix:/run/br-ex.mgmt: received: OFPST_FLOW_MONITOR reply (OF1.5) (xid=0x0):',
    ...texts,
    'OFPST_FLOW_MONITOR reply (OF1.5) (xid=0x0):',
    ...texts,
    ...dump(messageOf(flows)),
  ];
};

const textOf = ({ event, table, cookie, match, actions }: ReportedFlow): string => {
  const reason = event === 'DELETED' ? ' reason=delete' : '';
  const number = cookie === 0n ? '0' : `0x${cookie.toString(16)}`;
  const rest = [match, ...(actions === undefined ? [] : [`actions=${actions}`])]
    .filter((part) => part !== '')
    .join(' ');
  return ` event=${event}${reason} table=${table} cookie=${number} ${rest}`;
};

const EVENTS = { ADDED: 1, DELETED: 2, MODIFIED: 3 } as const;
const HEADER = 16;
const ENTRY = 24;

const messageOf = (flows: readonly ReportedFlow[]): Uint8Array => {
  const length = flows.reduce((sum, { rest }) => sum + ENTRY + rest.length, HEADER);
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 0x0613);
  view.setUint16(2, length);
  view.setUint16(8, 16);
  let at = HEADER;
  for (const { event, table, priority, cookie, rest } of flows) {
    view.setUint16(at, ENTRY + rest.length);
    view.setUint16(at + 2, EVENTS[event]);
    view.setUint8(at + 4, table);
    view.setUint16(at + 10, priority);
    view.setBigUint64(at + 16, cookie);
    bytes.set(rest, at + ENTRY);
    at += ENTRY + rest.length;
  }
  return bytes;
};

/** Open vSwitch's `ds_put_hex_dump()`. */
const dump = (bytes: Uint8Array): string[] => {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const part = [...bytes.subarray(at, at + 16)];
    const hex = Array.from({ length: 16 }, (_, index) => {
      const byte = part[index];
      if (byte === undefined) return '   ';
      return `${byte.toString(16).padStart(2, '0')}${index === 7 ? '-' : ' '}`;
    });
    const printed = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.'));
    lines.push(`${at.toString(16).padStart(8, '0')}  ${hex.join('')}|${printed.join('').padEnd(16)}|`);
  }
  return lines;
};
