/** What the cluster manager keeps of a NodeNetworkReport. */
import { parseNodeNetworkReport } from '../../api/node-network-report.ts';
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
  /** Name of a network that failed → why; of the first of them. */
  readonly failures: ReadonlyMap<string, string>;
}

/** @throws ApiError */
export const reportFacts = (object: unknown): ReportFacts => {
  const { metadata, status } = parseNodeNetworkReport(object);
  const { rendering, observed = '', ids, exceptions } = status;
  const failures = exceptions.flatMap(({ state, network, message }): [string, string][] =>
    state === 'Failed' ? [[network, message]] : [],
  );
  return { node: metadata.name, hasAll: rendering === 'Always', observed, ...ids, failures: new Map(failures) };
};
