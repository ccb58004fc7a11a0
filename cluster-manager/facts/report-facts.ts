/** What the cluster manager keeps of a NodeNetworkReport. */
import {
  type FailedComponent,
  parseNodeNetworkReport,
  type ReportedFirewalls as ReportStatusFirewalls,
} from '../../api/node-network-report.ts';
import type { IdRanges } from '../../net/id-ranges.ts';

export interface ReportFacts {
  readonly node: string;
  /** The node is to have every network: one that it does not mention is still to come. */
  readonly hasAll: boolean;
  /** When the NAD of the youngest of its networks was created: of a younger one its ids say nothing. */
  readonly observed: string;
  readonly ready: IdRanges;
  readonly pending: IdRanges;
  readonly failed: IdRanges;
  /** Of networks that are gone, of which the node still has something. */
  readonly leaving: IdRanges;
  /** The last retirement of ids that its agent has seen; -1: none, or an agent of before. */
  readonly retirement: number;
  /** Name of a network that failed → why; of the first of them. */
  readonly failures: ReadonlyMap<string, string>;
  /** What the node's networks need and does not work; undefined: an agent of before. */
  readonly failedComponents?: readonly FailedComponent[] | undefined;
  /** Undefined: an agent of before. */
  readonly firewalls?: ReportedFirewalls | undefined;
  /** When the agent has renewed the report, by its clock, and how long that counts. Undefined: an agent that renews nothing. */
  readonly renewal: { readonly at: number; readonly leaseMs: number } | undefined;
}

export interface ReportedFirewalls {
  /** Versions, with commas between. */
  readonly applied: string;
  /** Version → why it is not; of the first of them. */
  readonly problems: ReadonlyMap<string, string>;
}

/** @throws ApiError */
export const reportFacts = (object: unknown): ReportFacts => {
  const { metadata, status } = parseNodeNetworkReport(object);
  const { rendering, observed = '', retirement = -1, ids, exceptions, failedComponents, firewalls } = status;
  const { renewTime, leaseDurationSeconds } = status;
  const failures = exceptions.flatMap(({ state, network, message }): [string, string][] =>
    state === 'Failed' ? [[network, message]] : [],
  );
  const hasAll = rendering === 'Always';
  const renewal =
    renewTime === undefined || leaseDurationSeconds === undefined
      ? undefined
      : { at: Date.parse(renewTime), leaseMs: leaseDurationSeconds * 1_000 };
  return {
    node: metadata.name,
    hasAll,
    observed,
    retirement,
    ...ids,
    failures: new Map(failures),
    failedComponents,
    ...(firewalls && { firewalls: { applied: firewalls.applied, problems: problemsOf(firewalls) } }),
    renewal,
  };
};

const problemsOf = ({ problems = [] }: ReportStatusFirewalls): ReadonlyMap<string, string> =>
  new Map(problems.map(({ firewall, message }) => [firewall, message]));
