/**
 * Reads what `ovs-appctl ofproto/trace` prints (ovs-vswitchd(8); written by `oftrace_node_print_details` and
 * `ofproto_trace` of Open vSwitch' ofproto-dpif-trace.c).
 */
import { CliError } from '../errors.ts';

/** A packet's way until it is sent, dropped, or goes through conntrack and comes back as another pass. */
export interface TracePass {
  /** How the pass came to be: `conntrack with ct_state=new|trk`; absent for the first. */
  readonly resumed?: string;
  /** The packet as it begins. */
  readonly flow: string;
  /** In the order in which the packet met them; a bridge in which it goes on comes again. */
  readonly bridges: readonly TraceBridge[];
  /** The packet as it ends; `unchanged`. */
  readonly finalFlow: string;
  readonly megaflow: string;
  /** What the datapath does: `drop`, `ct(zone=17),recirc(0xc)`, `7`. */
  readonly datapathActions: string;
  /** Lines of the end that say more, for example why it is handled slowly. */
  readonly remarks: readonly string[];
}

export interface TraceBridge {
  readonly bridge: string;
  /** What the packet is wrapped in goes here: OVS sends its own tunnels through another bridge. */
  readonly isUnderlay: boolean;
  readonly steps: readonly TraceStep[];
}

/** A flow that matched, or that none did, and what was done. */
export interface TraceStep {
  /** Absent for what precedes the first table, for example the thawing of a packet. */
  readonly table?: number | undefined;
  /** Undefined where no flow matched. */
  readonly flow?: { readonly match: string; readonly priority: number; readonly cookie?: string } | undefined;
  /** In order. */
  readonly actions: readonly TraceAction[];
}

export interface TraceAction {
  /** As ovs-ofctl prints it. */
  readonly text: string;
  /** What it came to: `output to native tunnel`. */
  readonly notes: readonly string[];
}

/** @throws CliError for anything that is not a trace from its first line to its last */
export const parseOfprotoTrace = (output: string): readonly TracePass[] => {
  const lines = output.replace(/\n+$/, '').split('\n');
  const passes: TracePass[] = [];
  let at = 0;
  let resumed: string | undefined;
  while (at < lines.length) {
    const end = nextSeparator(lines, at);
    passes.push(readPass(lines.slice(at, end), at, resumed, passes));
    const header = /^recirc\(0x[0-9a-f]+\) - resume (.+)$/.exec(lines[end + 1] ?? '');
    const close = nextSeparator(lines, end + 1);
    if (end < lines.length && (header === null || close >= lines.length)) throw unreadable(end + 1, lines[end + 1]);
    resumed = header?.[1];
    at = close + 1;
    while (end < lines.length && lines[at] === '') at += 1;
    if (end < lines.length && at >= lines.length) throw unreadable(at, undefined);
  }
  return passes;
};

const SEPARATOR = /^={10,}$/;

const nextSeparator = (lines: readonly string[], from: number): number => {
  const found = lines.findIndex((line, index) => index >= from && SEPARATOR.test(line));
  return found < 0 ? lines.length : found;
};

/** @param first number of the first line, for errors @param before the passes that led to it */
const readPass = (
  lines: readonly string[],
  first: number,
  resumed: string | undefined,
  before: readonly TracePass[],
): TracePass => {
  const [head = ''] = lines;
  if (!head.startsWith('Flow: ')) throw unreadable(first, head);
  const finalAt = lines.findIndex((line) => line.startsWith('Final flow: '));
  if (finalAt < 0) throw new CliError('the trace ends before its final flow');
  const reader = new BridgeReader((table) => bridgeThatResumesAt(table, before));
  for (let index = 1; index < finalAt; index += 1) reader.push(lines[index] ?? '', first + index);
  const { megaflow, actions, remarks } = readTail(lines.slice(finalAt + 1), first + finalAt + 1);
  return {
    ...(resumed !== undefined && { resumed }),
    flow: head.slice('Flow: '.length),
    bridges: reader.bridges,
    finalFlow: (lines[finalAt] ?? '').slice('Final flow: '.length),
    megaflow,
    datapathActions: actions,
    remarks,
  };
};

/** Of a packet that is back from conntrack Open vSwitch prints the bridge where the trace began, wherever it is. */
const bridgeThatResumesAt = (table: string, before: readonly TracePass[]): string | undefined => {
  const isSent = ({ text }: TraceAction): boolean => new RegExp(`^ct\\(.*\\btable=${table}\\b`).test(text);
  return before
    .flatMap(({ bridges }) => bridges)
    .findLast(({ steps }) => steps.some(({ actions }) => actions.some(isSent)))?.bridge;
};

interface MutableBridge {
  bridge: string;
  readonly isUnderlay: boolean;
  /** Of its name: a nested bridge ends with the first line that is not indented more. */
  readonly indent: number;
  readonly steps: {
    table?: number | undefined;
    flow?: TraceStep['flow'];
    actions: { text: string; notes: string[] }[];
  }[];
}

class BridgeReader {
  readonly bridges: MutableBridge[] = [];
  readonly #open: MutableBridge[] = [];
  readonly #bridgeAt: (table: string) => string | undefined;

  constructor(bridgeAt: (table: string) => string | undefined) {
    this.#bridgeAt = bridgeAt;
  }

  push(line: string, number: number): void {
    const text = line.trimStart();
    if (text === '' || /^-+$/.test(text)) return;
    const indent = line.length - text.length;
    this.#leave(indent);
    const name = /^bridge\("([^"]+)"\)$/.exec(text)?.[1];
    if (name !== undefined) this.#enter(name, indent);
    else this.#step(text, indent, number);
  }

  #leave(indent: number): void {
    let left = false;
    for (let last = this.#open.at(-1); last !== undefined && last.indent > 0 && indent <= last.indent; left = true) {
      this.#open.pop();
      last = this.#open.at(-1);
    }
    const back = left ? this.#open.at(-1) : undefined;
    if (back === undefined) return;
    const again = { ...back, steps: [] };
    this.#open[this.#open.length - 1] = again;
    this.bridges.push(again);
  }

  #enter(bridge: string, indent: number): void {
    const around = this.#open.at(-1);
    const notes = around?.steps.at(-1)?.actions.at(-1)?.notes ?? [];
    const isUnderlay = around?.isUnderlay === true || notes.some((note) => note.startsWith('tunneling '));
    const entered = { bridge, isUnderlay, indent, steps: [] };
    this.#open.push(entered);
    this.bridges.push(entered);
  }

  #step(text: string, indent: number, number: number): void {
    const bridge = this.#open.at(-1);
    if (bridge === undefined) throw unreadable(number, text);
    const table = /^([0-9]{1,3})\. (.+)$/.exec(text);
    if (table !== null) {
      bridge.steps.push({ table: Number(table[1]), ...readFlow(table[2] ?? '', number), actions: [] });
      return;
    }
    // An action, or what it came to, is inside of a table; only a packet that is thawed has something before.
    if (indent === 0) throw unreadable(number, text);
    if (bridge.steps.length === 0) bridge.steps.push({ actions: [] });
    const resumed = /^Resuming from table ([0-9]+)$/.exec(text)?.[1];
    if (resumed !== undefined) bridge.bridge = this.#bridgeAt(resumed) ?? bridge.bridge;
    addAction(bridge.steps.at(-1)?.actions ?? [], text);
  }
}

const addAction = (actions: { text: string; notes: string[] }[], text: string): void => {
  const note = /^(?:->|>>|>>>>) (.+)$/.exec(text)?.[1];
  const last = actions.at(-1);
  if (note === undefined) actions.push({ text, notes: [] });
  else if (last === undefined) actions.push({ text: '', notes: [note] });
  else last.notes.push(note);
};

const readFlow = (text: string, number: number): Pick<TraceStep, 'flow'> => {
  if (text.startsWith('No match') || text.startsWith('Packets are IP fragments')) return {};
  const found = /^(?:(.+), )?priority ([0-9]+)(?:, cookie (0x[0-9a-f]+))?$/.exec(text);
  if (found === null) throw unreadable(number, text);
  const [, match = '', priority, cookie] = found;
  return { flow: { match, priority: Number(priority), ...(cookie !== undefined && { cookie }) } };
};

const readTail = (
  lines: readonly string[],
  first: number,
): { megaflow: string; actions: string; remarks: readonly string[] } => {
  const [megaflow = '', ...rest] = lines;
  if (!megaflow.startsWith('Megaflow: ')) throw unreadable(first, megaflow);
  const actionsAt = rest.findIndex((line) => line.startsWith('Datapath actions: '));
  const failure = rest.find((line) => line.startsWith('Translation failed'));
  if (actionsAt < 0 && failure === undefined) throw new CliError('the trace ends before its datapath actions');
  return {
    megaflow: megaflow.slice('Megaflow: '.length),
    actions: failure === undefined ? (rest[actionsAt] ?? '').slice('Datapath actions: '.length) : 'drop',
    remarks: rest.filter((line, index) => index !== actionsAt && line !== '').map((line) => line.trim()),
  };
};

const unreadable = (index: number, line: string | undefined): CliError =>
  new CliError(`line ${index + 1} of the trace cannot be parsed: ${JSON.stringify((line ?? '').slice(0, 100))}`);
