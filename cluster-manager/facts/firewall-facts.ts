/** What the cluster manager keeps of an EgressFirewall: what nodes report of it, and what its status says. Of its rules nothing but what is wrong. */
import { type FirewallStatus, firewallStatusSchema, parseEgressFirewall } from '../../api/egress-firewall.ts';
import { ApiError, describeFinding } from '../../api/errors.ts';
import { firewallVersion } from '../../api/firewall-version.ts';
import { type NameReading, NO_WILDCARDS, wildcardsOf } from '../../api/policy-names.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { DomainName } from '../../net/domain-name.ts';

export interface FirewallFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** As nodes report it. */
  readonly version: string;
  /** Nodes apply it: it is the firewall of its namespace. */
  readonly isEnforced: boolean;
  /** What of it cannot be followed. */
  readonly findings: readonly string[];
  /** Wildcards of domain names that it follows. */
  readonly wildcards: readonly DomainName[];
  readonly status: FirewallStatus;
}

export const firewallFacts = (object: KubeObject, names = NO_WILDCARDS): FirewallFacts => {
  const { namespace = '', name, uid = '', generation = 0 } = object.metadata;
  const status = firewallStatusSchema.safeParse(object['status']);
  return {
    ...{ namespace, name, uid, version: firewallVersion(uid, generation), ...findingsOf(object, names) },
    status: status.success ? status.data : {},
  };
};

const findingsOf = (
  object: KubeObject,
  names: NameReading,
): Pick<FirewallFacts, 'isEnforced' | 'findings' | 'wildcards'> => {
  try {
    const policy = parseEgressFirewall(object, names);
    return { isEnforced: true, findings: policy.findings, wildcards: wildcardsOf(policy) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { isEnforced: false, wildcards: [], findings: [`${describeFinding(error)}; it is not enforced`] };
  }
};
