/** Whether the agents of a cluster report, and what they report: a row for each Node. Pure. */
import { messageOf } from '../../base/error-message.ts';
import { type ReportFacts, reportFacts } from '../../cluster-manager/facts/report-facts.ts';
import type { KubeObject } from '../../kube/types.ts';
import { type IdRanges, idsIn } from '../../net/id-ranges.ts';
import { type NodeState, nodeState } from './node-state.ts';

/** `unreadable`: somebody else has written the report, or a newer agent. `silent`: its report was not renewed in time, and says nothing any more. `absent`: the node has no report. */
export type AgentState = 'reporting' | 'silent' | 'absent' | 'excluded' | 'unreadable';

export interface NodeRow {
  readonly node: string;
  readonly agent: AgentState;
  readonly networks: { readonly ready: number; readonly pending: number; readonly failed: number } | undefined;
  /** Undefined: an older agent, or none. */
  readonly failed: ReportFacts['failedComponents'] | undefined;
  /** Why it cannot be read. */
  readonly error?: string;
}

/** Sorted by name. @param now milliseconds since 1970 */
export const statusRows = (
  nodes: readonly KubeObject[],
  reports: readonly KubeObject[],
  now: number,
): readonly NodeRow[] => {
  const found = new Map(reports.map((one) => [one.metadata.name, one]));
  return nodes
    .map((node) => rowOf(node, found.get(node.metadata.name), now))
    .sort((a, b) => (a.node < b.node ? -1 : 1));
};

/** One object that cannot be read is one row that says so. */
const rowOf = (node: KubeObject, object: KubeObject | undefined, now: number): NodeRow => {
  const { name } = node.metadata;
  try {
    return rowOfFacts(nodeState(node), object && reportFacts(object), now);
  } catch (error) {
    return { node: name, agent: 'unreadable', networks: undefined, failed: undefined, error: messageOf(error) };
  }
};

/** @param now milliseconds since 1970 */
export const rowOfFacts = (node: NodeState, report: ReportFacts | undefined, now: number): NodeRow => ({
  node: node.name,
  agent: agentState(node, report, now),
  networks: report && countsOf(report),
  failed: report?.failedComponents,
});

const countsOf = ({ ready, pending, failed }: ReportFacts): NonNullable<NodeRow['networks']> => ({
  ready: sizeOf(ready),
  pending: sizeOf(pending),
  failed: sizeOf(failed),
});

const agentState = (
  { isExcluded, isCalledSilent }: NodeState,
  report: ReportFacts | undefined,
  now: number,
): AgentState => {
  if (isExcluded) return 'excluded';
  if (report === undefined) return 'absent';
  // By a clock that is ahead of ours an old report looks new: then the cluster manager knows better.
  const isAhead = report.renewal !== undefined && report.renewal.at > now;
  return isRenewed(report, now) && !(isAhead && isCalledSilent) ? 'reporting' : 'silent';
};

/** Its agent renews it: what it says is so still. @param now milliseconds since 1970 */
export const isRenewed = ({ renewal }: Pick<ReportFacts, 'renewal'>, now: number): boolean =>
  renewal !== undefined && renewal.at + renewal.leaseMs >= now;

const sizeOf = (ids: IdRanges): number => [...idsIn(ids)].length;

/** Why nothing is known of a node, or it does not work; undefined: it works. */
export const rowMessage = ({ agent, failed, error }: NodeRow): string | undefined =>
  error ?? MESSAGES[agent] ?? failed?.[0]?.message;

const MESSAGES: Readonly<Partial<Record<AgentState, string>>> = {
  silent: 'udn-agent does not renew its report: it has stopped, hangs, or does not reach the API server',
  absent: 'no udn-agent has reported from this node',
  excluded: 'it has the label k8s.ovn.org/exclude-from-networks, or does not run Linux',
};

export const isHealthy = ({ agent, networks, failed }: NodeRow): boolean =>
  agent === 'excluded' || (agent === 'reporting' && failed?.length === 0 && networks?.failed === 0);
