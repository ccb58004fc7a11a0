/** A trace's steps in words: only those that change where the packet is, or what it is. Pure. */
import { purposeOf } from '../flows/purpose.ts';
import type { TraceAction, TracePass, TraceStep } from './ofproto-trace.ts';
import type { BridgePort } from './port-names.ts';

export interface StepNames {
  readonly ports: readonly BridgePort[];
  /** By key, see `flows/datapaths.ts`. */
  readonly datapaths: ReadonlyMap<number, { readonly kind: string; readonly name: string }>;
}

export const stepsOf = (passes: readonly TracePass[], names: StepNames): string[] =>
  passes.flatMap(({ resumed, bridges }) => [
    ...(resumed === undefined ? [] : [`back from ${resumed}`]),
    ...bridges
      .filter(({ isUnderlay }) => !isUnderlay)
      .flatMap(({ bridge, steps }) => (steps.length === 0 ? [] : bridgeSteps(bridge, steps, names))),
  ]);

const bridgeSteps = (bridge: string, steps: readonly TraceStep[], names: StepNames): string[] => {
  const lines: string[] = [];
  let datapath: number | undefined;
  for (const step of steps) {
    const key = datapathOf(step);
    if (key !== undefined && key !== datapath) {
      datapath = key;
      const known = names.datapaths.get(key);
      lines.push(`${bridge}: ${known === undefined ? `datapath ${key}` : `${known.kind} ${known.name}`}`);
    }
    lines.push(...flowLines(bridge, step), ...step.actions.flatMap((action) => actionLines(bridge, action, names)));
  }
  return lines;
};

const datapathOf = ({ flow }: TraceStep): number | undefined => {
  const metadata = /(?:^|,)metadata=(0x[0-9a-f]+)(?:,|$)/.exec(flow?.match ?? '')?.[1];
  return metadata === undefined ? undefined : Number(metadata);
};

/** Flows of the gateway bridge are few, and each is for something. */
const flowLines = (bridge: string, { table, flow }: TraceStep): string[] => {
  if (table === undefined || flow === undefined) return [];
  const purpose = purposeOf({ table, priority: flow.priority, cookie: flow.cookie ?? '' });
  return purpose === undefined ? [] : [`${bridge}: table ${table} priority ${flow.priority}: ${purpose.purpose}`];
};

const actionLines = (bridge: string, { text, notes }: TraceAction, { ports }: StepNames): string[] => {
  const output = /^output:([0-9]+)$/.exec(text)?.[1] ?? (text === 'LOCAL' ? text : undefined);
  if (output !== undefined) return [`${bridge}: to port ${portName(ports, bridge, output)}${tunnel(notes)}`];
  if (text === 'NORMAL') return [`${bridge}: switched${notes.map((note) => `, ${note}`).join('')}`];
  if (text === 'dec_ttl') return [`${bridge}: routed`];
  const address = /^ct\(.*nat\((src|dst)=([^),]+)/.exec(text);
  if (address !== null)
    return [`${bridge}: ${address[1] === 'src' ? 'source' : 'destination'} becomes ${withoutPorts(address[2])}`];
  if (text.startsWith('ct(commit')) return [`${bridge}: conntrack commits the connection`];
  if (text.startsWith('ct(')) return [`${bridge}: conntrack lookup`];
  return [];
};

/** `10.0.0.1:32768-65535`, `[fd00::1]:32768-65535` */
export const withoutPorts = (text = ''): string => /^\[(.*)\]/.exec(text)?.[1] ?? text.replace(/:[0-9]+-[0-9]+$/, '');

const portName = (ports: readonly BridgePort[], bridge: string, number: string): string =>
  ports.find((port) => port.bridge === bridge && String(port.ofport) === number)?.name ?? number;

const tunnel = (notes: readonly string[]): string => {
  const found = notes.find((note) => note.startsWith('tunneling to ') || note.startsWith('neighbor cache miss'));
  return found === undefined ? '' : `, ${found}`;
};
