/**
 * Policies that the pods of this node are thought to be under. They are read when somebody asks what is wrong, and not watched: nothing is
 * programmed by them, and each watch of each node costs the API server memory.
 */
import type { ProblemStatus } from '../../api/agent-status.ts';
import { type PolicyFacts, policyName } from '../../api/policy.ts';
import { messageOf } from '../../base/error-message.ts';
import { isAway } from '../../kube/outage.ts';
import type { ComponentHealth } from '../health/component.ts';

export interface PolicySources {
  readonly node: string;
  /** The pods of this node. */
  readonly registry: { values(): Iterable<{ readonly pod: { readonly namespace: string } }> };
  /** @throws KubeError */
  readonly policies: (signal: AbortSignal) => Promise<readonly PolicyFacts[]>;
  readonly components: () => readonly Pick<ComponentHealth, 'component' | 'state'>[];
}

/** So long an answer of the API server is waited for: who looks for what is wrong has a server that is away, maybe. */
const READ_MS = 3_000;

export const unenforcedPolicies = async (
  { node, registry, policies, components }: PolicySources,
  signal: AbortSignal,
  limit: AbortSignal = AbortSignal.timeout(READ_MS),
): Promise<ProblemStatus[]> => {
  try {
    const found = await policies(AbortSignal.any([signal, limit]));
    const namespaces = new Set([...registry.values()].map(({ pod }) => pod.namespace));
    return found
      .filter(({ namespace }) => namespaces.size > 0 && (namespace === undefined || namespaces.has(namespace)))
      .map(ofPolicy);
  } catch (error) {
    // A server that is away is a problem of its own. A slow one is not: nothing else reports that an answer is missing.
    if (signal.aborted || isAway(error) || (limit.aborted && components().some(isApiServerAway))) return [];
    const why = limit.aborted ? `the API server did not answer within ${READ_MS / 1_000} s` : messageOf(error);
    const message = `network policies were not read: ${why}`;
    return [{ object: `Node/${node}`, severity: 'warning', cause: 'api-unread', message }];
  }
};

const isApiServerAway = ({ component, state }: Pick<ComponentHealth, 'component' | 'state'>): boolean =>
  component === 'api-server' && state === 'failed';

const ofPolicy = (policy: PolicyFacts): ProblemStatus => ({
  object: policyName(policy).replace(' ', '/'),
  severity: 'warning',
  cause: 'policy-not-enforced',
  message: `ovn-udn does not enforce a ${policy.kind}: traffic that it denies is allowed`,
});
