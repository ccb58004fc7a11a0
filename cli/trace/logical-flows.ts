/** The logical flows behind the OpenFlow flows that decided. */
import type { Transact } from '../flows/datapaths.ts';
import { mapOf, uuidOf } from '../node/wire-values.ts';
import type { TracePass } from './ofproto-trace.ts';
import { decidingFlows, type LogicalFlow } from './trace-result.ts';

/** By cookie: the first 32 bits of a logical flow's UUID are the cookie of its OpenFlow flows (ovn-controller(8)). */
export const logicalFlowsOf = async (
  southbound: Transact,
  passes: readonly TracePass[],
): Promise<ReadonlyMap<string, LogicalFlow>> => {
  const flows = decidingFlows(passes);
  const priorities = [...new Set(flows.map(({ priority }) => priority))].filter((one) => one <= MAX_LOGICAL_PRIORITY);
  if (priorities.length === 0) return new Map();
  const found = await southbound(
    priorities.map((priority) => ({
      op: 'select' as const,
      table: 'Logical_Flow',
      where: [['priority', '==', priority]] as const,
      columns: ['_uuid', 'match', 'external_ids'],
    })),
  );
  const cookies = new Map(flows.map(({ cookie }) => [cookie.slice(2).padStart(8, '0'), cookie]));
  return new Map(
    found
      .flatMap(({ rows = [] }) => rows)
      .flatMap((row): [string, LogicalFlow][] => {
        const cookie = cookies.get(uuidOf(row['_uuid']).slice(0, 8));
        if (cookie === undefined) return [];
        const stage = mapOf(row['external_ids']).get('stage-name') ?? 'unknown';
        return [[cookie, { stage, match: String(row['match']) }]];
      }),
  );
};

/** ovn-sb(5), Logical_Flow. */
const MAX_LOGICAL_PRIORITY = 65_535;
