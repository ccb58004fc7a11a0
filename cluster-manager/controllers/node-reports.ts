/** What the nodes say of networks: which networks a report changes, and how many nodes have one. Pure. */
import { MAX_NAMED } from '../../api/network-status.ts';
import { differingIds, hasId, type IdRanges, NO_IDS } from '../../net/id-ranges.ts';
import type { ReportFacts } from '../facts/report-facts.ts';

export interface ReportedNetwork {
  readonly name: string;
  readonly id: number;
  /** Of the NAD that defines it, as the API writes times: that is what `observed` of a report is made of. */
  readonly createdAt: string;
}

/** As `status.nodes` has them. */
export interface NodeCounts {
  readonly ready: number;
  readonly pending: number;
  readonly failing: number;
  readonly problems?: { readonly node: string; readonly message: string }[];
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

/**
 * Tests two or three bits of each report: to be called when a status is written, which is bounded, and not for every report.
 * @param reports of nodes that there are @returns undefined when no node reports at all
 */
export const countNodes = (reports: Iterable<ReportFacts>, network: ReportedNetwork): NodeCounts | undefined => {
  let [reporting, ready, pending] = [0, 0, 0];
  const failures: { readonly node: string; readonly message: string }[] = [];
  for (const report of reports) {
    reporting += 1;
    switch (stateOn(report, network)) {
      case 'ready':
        ready += 1;
        break;
      case 'pending':
        pending += 1;
        break;
      case 'failed':
        failures.push({ node: report.node, message: report.failures.get(network.name) ?? UNNAMED });
        break;
      case undefined:
    }
  }
  if (reporting === 0) return undefined;
  failures.sort((a, b) => (a.node < b.node ? -1 : 1));
  const problems = failures.slice(0, MAX_NAMED);
  return { ready, pending, failing: failures.length, ...(problems.length > 0 && { problems }) };
};

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

const UNNAMED = 'more networks failed there than its report has room for';
