/** Facts of policies for one secondary network, whose pods are attachments there and not the pods themselves. */
import type { FactWriter } from '../../model/fact-store.ts';
import { attachmentId, type FactKind } from '../../model/facts.ts';

export const laneWriter = (writer: FactWriter, network: string): FactWriter => {
  const idOf = (kind: FactKind, id: string): string => (OF_PODS.has(kind) ? attachmentId(id, network) : id);
  return {
    get: (kind, id) => writer.get(kind, idOf(kind, id)),
    set: (kind, id, value) => writer.set(kind, idOf(kind, id), value),
  };
};

const OF_PODS: ReadonlySet<FactKind> = new Set<FactKind>(['podPolicy', 'policyPeer', 'decidedPod']);
