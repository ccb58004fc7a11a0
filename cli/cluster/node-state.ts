/** What is kept of a Node: what the cluster manager gave it, and whether an agent has ever run there. */
import { z } from 'zod';
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import { NETWORK_UNAVAILABLE, SILENT_NODE_REASONS } from '../../api/node-condition.ts';
import { metadataSchema } from '../../api/object.ts';
import { parseWith } from '../../api/parse.ts';
import { type HeldByNode, heldByNode, type NodeFacts, nodeFacts } from '../../cluster-manager/facts/node-facts.ts';

export interface NodeState extends NodeFacts {
  readonly held: HeldByNode;
  /** The agent has published its chassis. */
  readonly hasAgent: boolean;
  /** The kubelet says so; undefined: it says nothing. */
  readonly isReady: boolean | undefined;
  /** The cluster manager says, by its own clock, that the agent has stopped reporting. */
  readonly isCalledSilent: boolean;
}

export const nodeState = (object: unknown): NodeState => {
  const facts = nodeFacts(object);
  const { metadata, status } = parseWith(nodeSchema, object, `Node ${facts.name}`);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    ...facts,
    held: heldByNode(facts),
    hasAgent: metadata.annotations[NODE_ANNOTATIONS.chassisId] !== undefined,
    isReady: ready === undefined ? undefined : ready.status === 'True',
    isCalledSilent: (status?.conditions ?? []).some(
      ({ type, reason }) => type === NETWORK_UNAVAILABLE && reason === SILENT_NODE_REASONS.notReporting,
    ),
  };
};

const nodeSchema = z.object({
  metadata: metadataSchema,
  status: z
    .object({
      conditions: z.array(z.object({ type: z.string(), status: z.string(), reason: z.string().nullish() })).nullish(),
    })
    .nullish(),
});
