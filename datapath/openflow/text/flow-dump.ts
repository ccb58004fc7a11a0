/** Output of `ovs-ofctl --no-names dump-flows`, with and without `--no-stats`. */
import { syntaxError } from '../errors.ts';
import {
  type CanonicalFlow,
  DEFAULT_PRIORITY,
  fieldsOf,
  keptActions,
  printedCookie,
  printedFlow,
  printedNumber,
} from './flow.ts';
import { cut } from './split.ts';

/** @throws OpenflowError ERR_OPENFLOW_SYNTAX */
export function* parseFlows(output: string): Generator<CanonicalFlow> {
  for (const line of linesOf(output)) {
    if (line !== '' && !HEADER.test(line)) yield parseFlowLine(line);
  }
}

const HEADER = /^(?:NXST|OFPST)_FLOW reply \((?:OF[0-9.]+\) \()?xid=0x[0-9a-f]+\):(?: flags=\[more\])?$/;

/** Without making a second copy of a text that may be large. */
export function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    yield text.slice(start, end < 0 ? text.length : end);
    if (end < 0) return;
    start = end + 1;
  }
}

/** The parts of a line, as they are printed. */
interface FlowParts {
  /** What stands before the match, the priority included. */
  readonly facts: Readonly<Record<string, string | undefined>>;
  readonly match: readonly string[];
  readonly actions: string;
}

/** Undefined for a line that is no flow. */
export const flowParts = (line: string): FlowParts | undefined => {
  const at = line.indexOf('actions=');
  if (at < 0 || !line.startsWith(' ')) return undefined;
  const facts: Record<string, string> = {};
  const match: string[] = [];
  // The match begins with the priority, unless that is the default (`match_format()` in Open vSwitch's match.c).
  let isMatch = false;
  for (const one of fieldsOf(line.slice(0, at))) {
    if (isMatch) {
      match.push(one);
      continue;
    }
    const [name, value] = cut(one, '=');
    isMatch = name === 'priority';
    if (FACTS.has(name)) facts[name] = value ?? '';
    else match.push(one);
  }
  return { facts, match, actions: line.slice(at + 'actions='.length) };
};

/** One line. @throws OpenflowError ERR_OPENFLOW_SYNTAX */
export const parseFlowLine = (line: string): CanonicalFlow => {
  const parts = flowParts(line);
  if (parts === undefined) throw syntaxError('a flow', line);
  const { facts, match, actions } = parts;
  const table = printedNumber(facts['table'] ?? '0', 255);
  const priority = printedNumber(facts['priority'] ?? String(DEFAULT_PRIORITY), 65_535);
  const cookie = printedCookie(facts['cookie'] ?? '0');
  return printedFlow(table, priority, { match, cookie, actions: keptActions(actions) });
};

/** What stands before a match and is no part of it. */
const FACTS = new Set([
  'cookie',
  'duration',
  'table',
  'priority',
  'n_packets',
  'n_bytes',
  'idle_timeout',
  'hard_timeout',
  'idle_age',
  'hard_age',
  'importance',
  'send_flow_rem',
  'check_overlap',
  'reset_counts',
  'no_packet_counts',
  'no_byte_counts',
]);
