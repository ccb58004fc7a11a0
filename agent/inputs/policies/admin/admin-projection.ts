/** What the agent keeps of a policy whose rules have an order. */
import { adminPolicyKey, parseAdminPolicy } from '../../../../api/admin-network-policy.ts';
import type { AdminPolicy, RankedKind } from '../../../../api/admin-policy/types.ts';
import { parseEgressFirewall } from '../../../../api/egress-firewall.ts';
import { NO_WILDCARDS } from '../../../../api/policy-names.ts';
import type { Problem } from '../../problem.ts';

export interface AdminProjection {
  readonly policy: AdminPolicy;
  readonly problems: readonly Problem[];
}

/** @throws ApiError where nobody can know whom it is about: it decides nothing then */
export const projectAdminPolicy = (kind: RankedKind, object: unknown, names = NO_WILDCARDS): AdminProjection => {
  const policy = kind === 'EgressFirewall' ? parseEgressFirewall(object, names) : parseAdminPolicy(kind, object, names);
  const problems = policy.findings.map(
    (message): Problem => ({
      ...{ object: adminPolicyKey(policy), message, cause: 'object-unreadable' },
    }),
  );
  return { policy, problems };
};

/** One that cannot be projected. */
export const badAdminPolicy = (policy: Pick<AdminPolicy, 'kind' | 'name'>, { message }: Error): Problem => ({
  ...{ object: adminPolicyKey(policy), message: `${message}; ${NOT_ENFORCED}`, cause: 'object-unreadable' },
});

const NOT_ENFORCED = 'its subjects or its place in the order are unknown, and it is not enforced';
