/**
 * Reads what `ovn-trace` prints (ovn-trace(8), "Detailed"). It exits with 0 whatever happens: a message instead of a trace
 * is what went wrong.
 */
import { CliError } from '../errors.ts';

/** The packet in one pipeline of a logical switch or router, or what an action came to: `ct_next(ct_state=new|trk)`. */
export interface LogicalBlock {
  /** `ingress(dp="s", inport="a")` */
  readonly title: string;
  /** Of a pipeline. */
  readonly pipeline?: LogicalPipeline | undefined;
  /** Blocks that are deeper than one before are about another packet (`arp`), or about a copy of it (`multicast`). */
  readonly depth: number;
  readonly stages: readonly LogicalStage[];
}

export interface LogicalPipeline {
  readonly direction: 'ingress' | 'egress';
  readonly datapath: string;
  readonly inport: string;
  readonly outport?: string | undefined;
}

/** A logical flow that matched, or a stage in which none did. */
export interface LogicalStage {
  readonly table: number;
  /** `ls_in_acl_eval` */
  readonly stage: string;
  /** Absent where no flow matched: the packet is dropped. */
  readonly flow?: { readonly match: string; readonly priority: number } | undefined;
  /** In order. */
  readonly actions: readonly string[];
  /** What ovn-trace says of them: `output to "a", type ""`. */
  readonly notes: readonly string[];
}

/** @throws CliError for anything that is not a trace from its first line to its last */
export const parseOvnTrace = (output: string): readonly LogicalBlock[] => {
  const lines = output.replace(/\n+$/, '').split('\n');
  const start = lines.findIndex((line) => line.startsWith('# '));
  if (start < 0) throw new CliError(`ovn-trace failed: ${lines.find((line) => line !== '') ?? 'nothing'}`);
  const reader = new BlockReader();
  for (let index = start + 1; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const isTitle = /^ *-{3,}$/.test(lines[index + 1] ?? '') && line.trim() !== '';
    if (isTitle) reader.open(line);
    else if (line.trim() !== '' && !/^ *-{3,}$/.test(line)) reader.push(line, index);
  }
  if (reader.blocks.length === 0) throw new CliError('ovn-trace shows no pipeline');
  return reader.blocks;
};

interface MutableStage {
  readonly table: number;
  readonly stage: string;
  readonly flow?: LogicalStage['flow'];
  readonly actions: string[];
  readonly notes: string[];
}

interface MutableBlock extends LogicalBlock {
  readonly stages: MutableStage[];
}

class BlockReader {
  readonly blocks: MutableBlock[] = [];

  open(line: string): void {
    const title = line.trim();
    const depth = line.length - line.trimStart().length;
    this.blocks.push({ title, pipeline: readPipeline(title), depth, stages: [] });
  }

  push(line: string, index: number): void {
    const block = this.blocks.at(-1);
    if (block === undefined) throw unreadable(index, line);
    const text = line.trim();
    const stage = readStage(text, index, line);
    if (stage !== undefined) block.stages.push(stage);
    else if (/^\/\*.*\*\/$/.test(text)) block.stages.at(-1)?.notes.push(text.slice(2, -2).trim());
    // ovn-trace prints what an action such as `arp` does to its own packet before a stage, and the action itself reports
    // it.
    else block.stages.at(-1)?.actions.push(text);
  }
}

const readPipeline = (title: string): LogicalPipeline | undefined => {
  const found = /^(ingress|egress)\(dp="([^"]*)", inport="([^"]*)"(?:, outport="([^"]*)")?\)$/.exec(title);
  if (found === null) return undefined;
  const [, direction, datapath = '', inport = '', outport] = found;
  return { direction: direction === 'ingress' ? 'ingress' : 'egress', datapath, inport, outport };
};

const NO_MATCH = 'no match (implicit drop)';

const readStage = (text: string, index: number, line: string): MutableStage | undefined => {
  const found = /^([0-9]{1,3})\. (.+)$/.exec(text);
  if (found === null) return undefined;
  const [, table, rest = ''] = found;
  const base = { table: Number(table), actions: [], notes: [] };
  if (rest.endsWith(NO_MATCH)) return { ...base, stage: rest.slice(0, -NO_MATCH.length).replace(/: $/, '') };
  const flow = /^(\S+)(?: \([^)]*\))?: (.*), priority ([0-9]+)(?:, uuid [0-9a-f]+)?$/.exec(rest);
  if (flow === null) throw unreadable(index, line);
  const [, stage = '', match = '', priority] = flow;
  return { ...base, stage, flow: { match, priority: Number(priority) } };
};

const unreadable = (index: number, line: string): CliError =>
  new CliError(`line ${index + 1} of the output of ovn-trace cannot be parsed: ${JSON.stringify(line.slice(0, 100))}`);
