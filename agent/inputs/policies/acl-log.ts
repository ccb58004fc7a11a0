/** What namespaces have logged of their policies. */
import type { AclLog, AclSeverity, DenyGroupFact, PolicyDirection } from '../../model/policies/facts.ts';
import type { PolicyNamespace } from './types.ts';

export const denyGroupOf = (network: string, namespace: string, severity: AclSeverity | undefined): DenyGroupFact => ({
  network,
  ...(severity && { log: { namespace, severity } }),
});

export const isSameLog = (a: PolicyNamespace['log'], b: PolicyNamespace['log']): boolean =>
  a?.allow === b?.allow && a?.deny === b?.deny;

/** ovn-nb(5): the name of an ACL has at most 63 characters. */
const MAX_ACL_NAME = 63;

export const logOf = (key: string, direction: PolicyDirection, severity: AclSeverity | undefined): AclLog | undefined =>
  severity && { name: `NP:${key}:${direction}`.slice(0, MAX_ACL_NAME), severity };
