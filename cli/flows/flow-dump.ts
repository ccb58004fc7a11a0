/** Reads what `ovs-ofctl dump-flows` prints (ovs-ofctl(8)), one flow a line. */
import type { CommandRunner } from '../../datapath/exec/types.ts';
import { DEFAULT_PRIORITY } from '../../datapath/openflow/text/flow.ts';
import { flowParts } from '../../datapath/openflow/text/flow-dump.ts';

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

/**
 * A bridge's flows, with ports by number: names in OpenFlow end after 15 characters.
 * @param match only flows that match at least this, ovs-ofctl(8)
 * @throws CommandError
 */
export const dumpFlows = async (
  runner: Pick<CommandRunner, 'run'>,
  bridge: string,
  ...match: readonly string[]
): Promise<Flow[]> => {
  const { stdout } = await runner.run({ file: 'ovs-ofctl', args: ['--no-names', 'dump-flows', bridge, ...match] });
  return stdout.split('\n').flatMap((line) => parseFlow(line) ?? []);
};

/**
 * Undefined for a line that is no flow, such as the header of the reply. The match is not read any further: ovn-controller's
 * flows have more in it than ours.
 */
export const parseFlow = (line: string): Flow | undefined => {
  const parts = flowParts(line);
  if (parts === undefined) return undefined;
  const { cookie = '0x0', table = '0', priority = DEFAULT_PRIORITY, n_packets: packets = '0' } = parts.facts;
  const metadata = parts.match.find((field) => /^metadata=0x[0-9a-f]+$/.test(field));
  return {
    cookie,
    table: Number(table),
    priority: Number(priority),
    packets: Number(packets),
    match: parts.match.join(','),
    actions: parts.actions.trim(),
    datapathKey: metadata === undefined ? undefined : Number(metadata.slice('metadata='.length)),
  };
};
