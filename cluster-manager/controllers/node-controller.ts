/** Writes to every node what belongs to it. */
import { DEFAULT_NETWORK_NAME, NODE_ANNOTATIONS } from '../../api/names.ts';
import { isNotFound, isReplaced } from '../../kube/errors.ts';
import { NODES } from '../../kube/resources.ts';
import type { NodeAnnotationTexts } from '../allocation/node-allocations.ts';
import type { NodeFacts } from '../facts/node-facts.ts';
import type { ControllerContext, Reconcile } from './types.ts';

export const nodeReconciler =
  ({ caches, state, writer, problems }: ControllerContext): Reconcile =>
  async (name, signal) => {
    const node = caches.nodes.get(name);
    if (node === undefined) return;
    const without = state.nodes.failures(DEFAULT_NETWORK_NAME).get(name);
    const failures = [
      state.nodes.idFailure(name),
      without === undefined ? undefined : `network ${DEFAULT_NETWORK_NAME}: ${without}`,
    ];
    const regarding = { apiVersion: 'v1', kind: 'Node', name, uid: node.uid };
    const found = failures.filter((failure) => failure !== undefined);
    problems.report(regarding, 'NodeAllocationFailed', found);
    const annotations = changedAnnotations(node, state.nodes.annotations(name));
    if (Object.keys(annotations).length === 0) return;
    try {
      // Of the very node that it was given to: another one of its name gets its own.
      await writer.merge(NODES, { name }, { metadata: { uid: node.uid, annotations } }, {}, signal);
    } catch (error) {
      if (!isNotFound(error) && !isReplaced(error)) throw error;
    }
  };

/** What has to be written for the node to have what it should; null takes an annotation away. */
const changedAnnotations = (node: NodeFacts, desired: NodeAnnotationTexts): Record<string, string | null> => {
  const changes: Record<string, string | null> = {};
  for (const field of ['id', 'transitAddresses', 'subnets'] as const) {
    if (node.annotations[field] !== desired[field]) changes[NODE_ANNOTATIONS[field]] = desired[field] ?? null;
  }
  return changes;
};
