/**
 * Policies that the pods of this node are thought to be under. They are read when somebody asks what is wrong, and not watched: nothing is
 * programmed by them, and each watch of each node costs the API server memory.
 */
import type { ProblemStatus } from '../../api/agent-status.ts';
import { type PolicyFacts, policyName } from '../../api/policy.ts';
import { messageOf } from '../../base/error-message.ts';
import { isAway } from '../../kube/outage.ts';

export interface PolicySources {
  readonly node: string;
  /** The pods of this node. */
  readonly registry: { values(): Iterable<{ readonly pod: { readonly namespace: string } }> };
  /** @throws KubeError */
  readonly policies: (signal: AbortSignal) => Promise<readonly PolicyFacts[]>;
}

/** So long an answer of the API server is waited for: who looks for what is wrong has a server that is away, maybe. */
const READ_MS = 3_000;

export const unenforcedPolicies = async (
  { node, registry, policies }: PolicySources,
  signal: AbortSignal,
): Promise<ProblemStatus[]> => {
  const soon = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
  try {
    const found = await policies(soon);
    const namespaces = new Set([...registry.values()].map(({ pod }) => pod.namespace));
    return found
      .filter(({ namespace }) => namespaces.size > 0 && (namespace === undefined || namespaces.has(namespace)))
      .map(ofPolicy);
  } catch (error) {
    // That the server does not answer is a problem of its own.
    if (soon.aborted || isAway(error)) return [];
    const message = `network policies were not read: ${messageOf(error)}`;
    return [{ object: `Node/${node}`, severity: 'warning', cause: 'api-unread', message }];
  }
};

const ofPolicy = (policy: PolicyFacts): ProblemStatus => ({
  object: policyName(policy).replace(' ', '/'),
  severity: 'warning',
  cause: 'policy-not-enforced',
  message: `ovn-udn does not enforce a ${policy.kind}: traffic that it denies is allowed`,
});
