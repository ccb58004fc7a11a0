/** What the report of a node's agent says in a snapshot. Pure. */
import type { NodeState } from './node-state.ts';
import type { Snapshot } from './snapshot.ts';
import { type NodeRow, rowOfFacts } from './status-rows.ts';

type Read = Pick<Snapshot, 'reports' | 'unread' | 'now'>;

/** Undefined: reports may not be read or were not asked for, the agents are of before reports, or the node is to have no agent. */
export const agentRow = (node: NodeState, { reports, unread, now }: Read): NodeRow | undefined => {
  if (node.isExcluded || reports.length === 0 || !mayReadReports({ unread })) return undefined;
  return rowOfFacts(
    node,
    reports.find((report) => report.node === node.name),
    now,
  );
};

export const mayReadReports = ({ unread }: Pick<Snapshot, 'unread'>): boolean =>
  unread.every(({ resource }) => resource !== 'nodenetworkreports');
