/** What the nodes say of networks: which networks a report changes, and how many nodes have one. Pure. */
import { MAX_NAMED, type NetworkStatusFields } from '../../api/network-status.ts';
import { differingIds, hasId, type IdRanges, NO_IDS } from '../../net/id-ranges.ts';
import type { ReportFacts } from '../facts/report-facts.ts';

export interface ReportedNetwork {
  readonly name: string;
  readonly id: number;
  /** Of the NAD that defines it, as the API writes times: that is what `observed` of a report is made of. */
  readonly createdAt: string;
}

/** Most reports only say that the agent is still there. */
export const isOnlyRenewed = (before: ReportFacts, after: ReportFacts): boolean =>
  before.hasAll === after.hasAll &&
  before.observed === after.observed &&
  before.retirement === after.retirement &&
  differingIds(before.leaving, after.leaving).length === 0 &&
  changedIds(before, after).length === 0 &&
  changedFailures(before, after).length === 0;

/** How the nodes of the cluster stand to one network. A node that has no use of it counts in `total` alone. */
export interface NodeTally {
  readonly total: number;
  readonly ready: number;
  /** Names, sorted. */
  readonly pending: readonly string[];
  readonly failing: readonly { readonly node: string; readonly message: string }[];
  /** Nodes without a report. */
  readonly unreported: readonly string[];
  /** Nodes whose agents have stopped renewing their reports: what they say may not be so any more. */
  readonly stale: readonly string[];
}

/** Where the tally comes from. */
export interface NodeReports {
  /** Names of all nodes of the cluster. */
  readonly nodes: Iterable<string>;
  report(node: string): ReportFacts | undefined;
  isStale(node: string): boolean;
}

/** Ids whose networks stand another way on the node. */
export const changedIds = (before: ReportFacts | undefined, after: ReportFacts | undefined): IdRanges[] =>
  (['ready', 'pending', 'failed'] as const)
    .map((state) => differingIds(before?.[state] ?? NO_IDS, after?.[state] ?? NO_IDS))
    .filter((ids) => ids.length > 0);

/** Names of networks of which something else is said to be wrong. */
export const changedFailures = (before: ReportFacts | undefined, after: ReportFacts | undefined): string[] =>
  [...new Set([...(before?.failures.keys() ?? []), ...(after?.failures.keys() ?? [])])].filter(
    (network) => before?.failures.get(network) !== after?.failures.get(network),
  );

/** Tests two or three bits of each report: to be called when a status is written, which is bounded, and not for every report. */
export const tallyNodes = ({ nodes, report, isStale }: NodeReports, network: ReportedNetwork): NodeTally => {
  let [total, ready] = [0, 0];
  const [pending, unreported, stale]: [string[], string[], string[]] = [[], [], []];
  const failing: { readonly node: string; readonly message: string }[] = [];
  for (const node of nodes) {
    total += 1;
    const found = report(node);
    if (found === undefined) unreported.push(node);
    else if (isStale(node)) stale.push(node);
    else {
      const state = stateOn(found, network);
      if (state === 'ready') ready += 1;
      else if (state === 'pending') pending.push(node);
      else if (state === 'failed') failing.push({ node, message: found.failures.get(network.name) ?? UNNAMED });
    }
  }
  failing.sort((a, b) => (a.node < b.node ? -1 : 1));
  return { total, ready, failing, pending: pending.sort(), unreported: unreported.sort(), stale: stale.sort() };
};

/** As `status.nodes` has it. */
export const nodeFields = ({ total, ready, pending, failing, unreported, stale }: NodeTally): NodeFields => {
  const silent = unreported.length + stale.length;
  const desired = ready + pending.length + failing.length + silent;
  const problems = failing.slice(0, MAX_NAMED);
  return {
    total,
    summary: `${ready}/${desired}`,
    ready,
    pending: pending.length,
    failing: failing.length,
    silent,
    ...(problems.length > 0 && { problems }),
  };
};

type NodeFields = NonNullable<NetworkStatusFields['nodes']>;

/** Undefined: the node has no use of the network. */
const stateOn = (
  { hasAll, observed, ready, pending, failed }: ReportFacts,
  { id, createdAt }: ReportedNetwork,
): 'ready' | 'pending' | 'failed' | undefined => {
  // Ids are given out again: an older report means another network.
  const isMeant = observed >= createdAt;
  if (isMeant && hasId(failed, id)) return 'failed';
  if (isMeant && hasId(ready, id)) return 'ready';
  return hasAll || (isMeant && hasId(pending, id)) ? 'pending' : undefined;
};

const UNNAMED = 'more networks failed on this node than its report can list';
