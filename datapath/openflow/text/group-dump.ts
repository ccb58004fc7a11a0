/** Output of `ovs-ofctl -O OpenFlow15 --no-names dump-groups`. */
import { syntaxError } from '../errors.ts';
import { printedNumber } from './flow.ts';
import { linesOf } from './flow-dump.ts';

export interface GroupState {
  /** `all`, `select`, … */
  readonly type: string;
  /** Bucket → its actions. */
  readonly buckets: ReadonlyMap<number, string>;
}

/** @throws OpenflowError ERR_OPENFLOW_SYNTAX */
export const parseGroups = (output: string): Map<number, GroupState> => {
  const groups = new Map<number, GroupState>();
  for (const line of linesOf(output)) {
    if (line === '' || HEADER.test(line)) continue;
    const { id, ...state } = parseGroupLine(line);
    groups.set(id, state);
  }
  return groups;
};

const HEADER = /^(?:NXST|OFPST)_GROUP_DESC reply \((?:OF[0-9.]+\) \()?xid=0x[0-9a-f]+\):(?: flags=\[more\])?$/;

const parseGroupLine = (line: string): GroupState & { readonly id: number } => {
  const [head = '', ...rest] = line.split(',bucket=');
  const [, id, type] = /^ group_id=([0-9]+),type=([a-z_]+)(?:,[a-z_]+[=(].*)?$/.exec(head) ?? [];
  if (id === undefined || type === undefined) throw syntaxError('a group', line);
  const buckets = new Map(rest.map(parseBucket));
  if (buckets.size !== rest.length) throw syntaxError('a group whose buckets have different ids', line);
  return { id: printedNumber(id, 0xffff_ff00), type, buckets };
};

const parseBucket = (text: string): readonly [number, string] => {
  const [, id, actions] = /^bucket_id:([0-9]+),(?:[a-z_]+:[^,]+,)*actions=(.*)$/.exec(text) ?? [];
  if (id === undefined || actions === undefined) throw syntaxError('a bucket', text);
  return [printedNumber(id, 0xffff_ffff), actions];
};
