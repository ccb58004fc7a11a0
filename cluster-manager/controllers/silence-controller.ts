/**
 * Says on a Node whose agent has stopped reporting what the agent cannot: condition `NetworkUnavailable`. The node lifecycle controller
 * keeps new pods away by its taint, and evicts none. It is written once for each silence, so that nobody who writes the
 * condition too is fought, and it is the agent that takes it back.
 */
import { isOfAgent, isOfSilentNode, NETWORK_UNAVAILABLE, SILENT_NODE_REASONS } from '../../api/node-condition.ts';
import { isNotFound, isReplaced } from '../../kube/errors.ts';
import { type NodeConditionFacts, readNodeCondition } from '../../kube/node-condition.ts';
import { isAway, type Outage } from '../../kube/outage.ts';
import { NODES } from '../../kube/resources.ts';
import type { NodeFacts } from '../facts/node-facts.ts';
import type { ReportFreshness } from './report-freshness.ts';
import type { ControllerContext, Reconcile } from './types.ts';

interface SilenceContext extends ControllerContext {
  readonly freshness: Pick<ReportFreshness, 'isSilent'>;
  readonly outage: Pick<Outage, 'answered'>;
}

export const silenceReconciler =
  ({ caches, client, writer, problems, clock, freshness, outage }: SilenceContext): Reconcile =>
  async (name, signal) => {
    const node = caches.nodes.get(name);
    if (node === undefined) return;
    const report = (messages: readonly string[]): void =>
      problems.report(
        { apiVersion: 'v1', kind: 'Node', name, uid: node.uid },
        SILENT_NODE_REASONS.notReporting,
        messages,
      );
    if (!freshness.isSilent(name)) return report([]);
    const before = await answeredOr(outage, () => readNodeCondition(client, name, NETWORK_UNAVAILABLE, signal));
    // A server that hangs tells nobody: that agents could not renew their reports either, this question may be the first to find out.
    if (!freshness.isSilent(name)) return;
    report(node.isExcluded ? [] : [NOT_REPORTING]);
    const verdict = silentVerdict(node, before);
    if (verdict === undefined) return;
    const now = new Date(clock.wall()).toISOString().replace(/\.[0-9]+Z$/, 'Z');
    const lastTransitionTime = before?.status === verdict.status && before.since !== '' ? before.since : now;
    const condition = { type: NETWORK_UNAVAILABLE, ...verdict, lastHeartbeatTime: now, lastTransitionTime };
    const object = { metadata: { name, uid: node.uid }, status: { conditions: [condition] } };
    try {
      await writer.apply(NODES, object, { subresource: 'status' }, signal);
    } catch (error) {
      if (!isNotFound(error) && !isReplaced(error)) throw error;
    }
  };

const answeredOr = async <Answer>(outage: Pick<Outage, 'answered'>, ask: () => Promise<Answer>): Promise<Answer> => {
  try {
    const answer = await ask();
    outage.answered();
    return answer;
  } catch (error) {
    if (!isAway(error)) outage.answered(error);
    throw error;
  }
};

const NOT_REPORTING =
  'udn-agent has stopped reporting: nothing programs the networks of new pods on this node. Check its pod, and whether it reaches the API server';

const NOT_EXPECTED = 'No udn-agent is expected on this node: it is excluded from networks';

/**
 * The desired condition; undefined: nothing is written. Another program's True explains more than that the agent is silent, and has
 * the same effect. On an excluded node another CNI may be responsible, and the condition with it: a cloud's route controller sets it
 * until the node has routes (`NoRouteCreated`), and False instead would place pods on a node without a network. Only what the
 * agent or this controller has written is outdated there.
 */
export const silentVerdict = (
  { isExcluded }: Pick<NodeFacts, 'isExcluded'>,
  before: NodeConditionFacts | undefined,
) => {
  const reason = isExcluded ? SILENT_NODE_REASONS.excluded : SILENT_NODE_REASONS.notReporting;
  if (before?.reason === reason) return undefined;
  const isOurs = before === undefined || isOfAgent(before.reason) || isOfSilentNode(before.reason);
  if (isExcluded) return isOurs ? ({ status: 'False', reason, message: NOT_EXPECTED } as const) : undefined;
  const isOfOthers = before?.status === 'True' && !isOfSilentNode(before.reason);
  return isOfOthers ? undefined : ({ status: 'True', reason, message: NOT_REPORTING } as const);
};
