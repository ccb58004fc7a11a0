/**
 * The status of EgressFirewalls: one writer for all nodes (docs/adr/0126). What users wait for is written soon, and all else after 15 to 30 s,
 * or more where there are more than 300 firewalls: with nodes, pods and reports that come and go, each is written seldom.
 */
import { EGRESS_FIREWALL_NAME, type FirewallStatus } from '../../api/egress-firewall.ts';
import { EGRESS_FIREWALLS } from '../../api/resources.ts';
import { isMoot } from '../../kube/errors.ts';
import { jsonEqual } from '../../kube/json-equal.ts';
import type { Change, ObjectCache } from '../../kube/reflector/types.ts';
import type { FirewallFacts } from '../facts/firewall-facts.ts';
import type { NodeFacts } from '../facts/node-facts.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { ReportedFirewalls, ReportFacts } from '../facts/report-facts.ts';
import { APPLIED, firewallStatus, isNews } from './firewall-status.ts';
import type { ReportFreshness } from './report-freshness.ts';
import type { ControllerContext, Reconcile } from './types.ts';
import type { Wildcards } from './wildcard-controller.ts';

export interface FirewallContext extends Pick<ControllerContext, 'caches' | 'writer' | 'enqueue'> {
  readonly freshness: Pick<ReportFreshness, 'isStale'>;
  readonly firewalls: ObjectCache<FirewallFacts>;
  /** Absent: no wildcard is followed. */
  readonly wildcards?: Pick<Wildcards, 'findings' | 'onFindings'> | undefined;
}

/** Writes what is so, unless the object says it already. */
export const firewallReconciler =
  (context: FirewallContext): Reconcile =>
  async (key, signal) => {
    const facts = context.firewalls.get(key);
    if (facts === undefined) return;
    const { namespace, name, uid } = facts;
    const desired = statusOf(context, facts);
    if (jsonEqual(facts.status, desired)) return;
    // All of it, whoever has written it: another program's nodes, or an earlier one's, are none of ours.
    const status = { status: desired.status, messages: desired.messages ?? null };
    try {
      const body = { metadata: { uid }, status };
      await context.writer.merge(EGRESS_FIREWALLS, { namespace, name }, body, { subresource: 'status' }, signal);
    } catch (error) {
      if (!isMoot(error)) throw error;
    }
  };

/** Has written at once what is news. */
export const firewallNewsReconciler =
  (context: FirewallContext): Reconcile =>
  (key) => {
    const facts = context.firewalls.get(key);
    if (facts === undefined) return Promise.resolve();
    const desired = statusOf(context, facts);
    if (isNews(desired, facts.status) && !jsonEqual(facts.status, desired)) context.enqueue.firewallNow(key);
    return Promise.resolve();
  };

const statusOf = ({ caches, freshness, wildcards }: FirewallContext, facts: FirewallFacts): FirewallStatus => {
  const nodes = facts.isEnforced ? nodesWithPodsOf(caches, facts.namespace) : [];
  return firewallStatus(
    [...facts.findings, ...(wildcards?.findings(facts.wildcards) ?? [])],
    facts.version,
    nodes.map((node) => ({ node, report: caches.reports.get(node), isStale: freshness.isStale(node) })),
  );
};

/** A node that is gone has no pods, though these may still be listed. */
const nodesWithPodsOf = ({ pods, nodes }: FirewallContext['caches'], namespace: string): readonly string[] => {
  const named = new Set(pods.byIndex('namespace', namespace).map(({ activeOn }) => activeOn));
  return [...named].filter((node) => nodes.get(node)?.isExcluded === false);
};

export interface FirewallTriggers {
  /** The report of the node has become stale, or counts again. */
  onFreshness(node: string): void;
  stop(): void;
}

/** What happens in the cluster → whose status may be another. */
export const followFirewalls = ({
  caches,
  firewalls,
  wildcards,
  enqueue,
}: Pick<FirewallContext, 'caches' | 'firewalls' | 'wildcards' | 'enqueue'>): FirewallTriggers => {
  /** Keys. */
  const byVersion = new Map<string, string>();
  const touch = (key: string): void => {
    enqueue.firewall(key);
    enqueue.firewallNews(key);
  };
  const touchVersions = (versions: Iterable<string>): void => {
    for (const version of versions) {
      const key = byVersion.get(version);
      if (key !== undefined) touch(key);
    }
  };
  const touchAll = (): void => {
    for (const key of firewalls.keys()) touch(key);
  };
  wildcards?.onFindings((user) => {
    if (user.startsWith(OF_FIREWALLS)) touch(user.slice(OF_FIREWALLS.length));
  });
  const ends = [
    firewalls.subscribe(({ key, before, after }) => {
      if (before !== undefined) byVersion.delete(before.version);
      if (after === undefined) return;
      byVersion.set(after.version, key);
      const isOther = before !== undefined && before.version !== after.version;
      // What its status says is of the version before; whoever corrects one looks at what it says.
      const isWaitedFor = after.status.status === APPLIED || before?.findings.length !== 0;
      if (isOther && isWaitedFor) enqueue.firewallNow(key);
      touch(key);
    }),
    caches.reports.subscribe(({ before, after }: Change<ReportFacts>) => touchVersions(changedVersions(before, after))),
    caches.pods.subscribe(({ before, after }: Change<PodFacts>) => {
      const { namespace = '' } = after ?? before ?? {};
      const key = `${namespace}/${EGRESS_FIREWALL_NAME}`;
      if (before?.activeOn !== after?.activeOn && firewalls.has(key)) touch(key);
    }),
    caches.nodes.subscribe(({ before, after }: Change<NodeFacts>) => {
      if (before?.uid !== after?.uid || before?.isExcluded !== after?.isExcluded) touchAll();
    }),
  ];
  return {
    // Not only those that its report names: it may have pods of others.
    onFreshness: touchAll,
    stop: () => {
      for (const end of ends) end();
    },
  };
};

const OF_FIREWALLS = `${EGRESS_FIREWALLS.kind}/`;

/** Of firewalls that stand another way on the node. */
export const changedVersions = (
  before: Pick<ReportFacts, 'firewalls'> | undefined,
  after: Pick<ReportFacts, 'firewalls'> | undefined,
): ReadonlySet<string> => {
  const [old, now] = [before?.firewalls, after?.firewalls];
  const ofProblems = [...(old?.problems.keys() ?? []), ...(now?.problems.keys() ?? [])].filter(
    (version) => old?.problems.get(version) !== now?.problems.get(version),
  );
  if (old?.applied === now?.applied) return new Set(ofProblems);
  return versionsIn(old).symmetricDifference(versionsIn(now)).union(new Set(ofProblems));
};

const versionsIn = (firewalls: ReportedFirewalls | undefined): ReadonlySet<string> =>
  new Set(firewalls === undefined || firewalls.applied === '' ? [] : firewalls.applied.split(','));
