/** Reads what `ovs-ofctl dump-flows` prints (ovs-ofctl(8)), one flow a line. */

import type { CommandRunner } from '../../datapath/exec/types.ts';

export interface Flow {
  readonly cookie: string;
  readonly table: number;
  readonly priority: number;
  readonly packets: number;
  /** Without the priority; empty for a flow that matches everything. */
  readonly match: string;
  readonly actions: string;
  /** The datapath that the flow is for, from its match on `metadata`. */
  readonly datapathKey: number | undefined;
}

/** Of a bridge, ports by number: names in OpenFlow end after 15 characters. @throws CommandError */
export const dumpFlows = async (runner: Pick<CommandRunner, 'run'>, bridge: string): Promise<Flow[]> => {
  const { stdout } = await runner.run({ file: 'ovs-ofctl', args: ['--no-names', 'dump-flows', bridge] });
  return stdout.split('\n').flatMap((line) => parseFlow(line) ?? []);
};

/** Undefined for a line that is no flow, such as the header of the reply. */
export const parseFlow = (line: string): Flow | undefined => {
  const actionsAt = line.indexOf(' actions=');
  if (actionsAt < 0 || !line.startsWith(' cookie=')) return undefined;
  // Statistics have a space behind their comma, fields of the match have none.
  const parts = line.slice(1, actionsAt).split(', ');
  const statistic = (name: string): string =>
    parts.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
  const last = parts.at(-1) ?? '';
  const { priority, match } = readMatch(STATISTICS.some((name) => last.startsWith(`${name}=`)) ? '' : last);
  const metadata = /(?:^|,)metadata=(0x[0-9a-f]+)(?:,|$)/.exec(match)?.[1];
  return {
    cookie: statistic('cookie'),
    table: Number(statistic('table')),
    priority,
    packets: Number(statistic('n_packets')),
    match,
    actions: line.slice(actionsAt + ' actions='.length).trim(),
    datapathKey: metadata === undefined ? undefined : Number(metadata),
  };
};

const STATISTICS = ['cookie', 'duration', 'table', 'n_packets', 'n_bytes', 'idle_age', 'hard_age', 'idle_timeout'];

/** OpenFlow's priority where none is printed. */
const DEFAULT_PRIORITY = '32768';

const readMatch = (text: string): { priority: number; match: string } => {
  const [, priority = DEFAULT_PRIORITY, match = ''] = /^(?:priority=([0-9]+)(?:,|$))?(.*)$/.exec(text) ?? [];
  return { priority: Number(priority), match };
};
