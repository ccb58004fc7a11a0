/** What the status of an EgressFirewall says, from what its nodes report. Its first words are those of the field (ovn-kubernetes). Pure. */
import type { FirewallStatus } from '../../api/egress-firewall.ts';
import type { ReportFacts } from '../facts/report-facts.ts';

export const APPLIED = 'EgressFirewall Rules applied';
const INCORRECT = 'EgressFirewall Rules not correctly applied';
const NOT_YET = 'EgressFirewall Rules not applied yet';

/** Of a node with pods of the namespace. */
export interface FirewallNode {
  readonly node: string;
  readonly report: ReportFacts | undefined;
  /** Its agent has stopped renewing the report. */
  readonly isStale: boolean;
}

type State = 'failed' | 'lacking' | 'applied';

interface NodeState {
  readonly node: string;
  readonly state: State;
  readonly message: string;
}

/** @param findings what of the firewall nobody can follow */
export const firewallStatus = (
  findings: readonly string[],
  version: string,
  nodes: readonly FirewallNode[],
): FirewallStatus => {
  const all = nodes.map((node) => reportedBy(node, version)).sort((a, b) => (a.node < b.node ? -1 : 1));
  const of = (state: State): NodeState[] => all.filter((one) => one.state === state);
  const [failed, lacking, applied] = [of('failed'), of('lacking'), of('applied')];
  // Of many nodes those that have it are not named: with each pod that comes or goes the object would be written again.
  const named = [...failed.slice(0, MAX_NAMED), ...lacking.slice(0, MAX_NAMED)];
  const messages = [...named, ...(all.length > MAX_APPLIED ? [] : applied)].map(
    ({ node, message }) => `${node}: ${message}`,
  );
  return {
    status: summaryOf(findings, failed, lacking, all.length),
    ...(messages.length > 0 && { messages }),
  };
};

const summaryOf = (
  findings: readonly string[],
  failed: readonly NodeState[],
  lacking: readonly NodeState[],
  total: number,
): string => {
  const [finding] = findings;
  if (finding !== undefined) return `${INCORRECT}: ${finding}${moreText(findings.length - 1)}`;
  if (failed.length > 0)
    return `${INCORRECT}: ${failed.length} of ${total} nodes cannot apply them: ${namesOf(failed)}`;
  if (lacking.length > 0)
    return `${NOT_YET}: ${lacking.length} of ${total} nodes have not reported them: ${namesOf(lacking)}`;
  return APPLIED;
};

/** Whether it is written at once: what users wait for. What fails after that waits for its turn, or a node that flaps would write each time. */
export const isNews = ({ status = '' }: FirewallStatus, before: FirewallStatus): boolean =>
  status === APPLIED || (status.startsWith(INCORRECT) && before.status === undefined);

const reportedBy = ({ node, report, isStale }: FirewallNode, version: string): NodeState => {
  const lacking = (message: string): NodeState => ({ node, state: 'lacking', message });
  if (report === undefined) return lacking('udn-agent has not reported');
  if (isStale) return lacking('udn-agent has stopped reporting');
  if (report.firewalls === undefined) return lacking('udn-agent is older and does not report firewalls');
  const { applied, problems } = report.firewalls;
  // Hashes of one length, with commas between: one is in the text, or not.
  if (applied.includes(version)) return { node, state: 'applied', message: APPLIED };
  const problem = problems.get(version);
  return problem === undefined ? lacking(NOT_YET) : { node, state: 'failed', message: `${INCORRECT}: ${problem}` };
};

const namesOf = (all: readonly NodeState[]): string =>
  `${all
    .slice(0, MAX_IN_SUMMARY)
    .map(({ node }) => node)
    .join(', ')}${moreText(all.length - MAX_IN_SUMMARY)}`;

const moreText = (count: number): string => (count > 0 ? ` and ${count} more` : '');

const MAX_IN_SUMMARY = 3;
const MAX_NAMED = 10;
const MAX_APPLIED = 20;
