import type { AdminTier } from '../../../api/admin-policy/types.ts';
import { type DatabaseId, databaseId } from '../../model/database-ids.ts';
import { controllerName } from '../../model/names.ts';
import { firewallRuleIdentity } from './firewall.ts';

/** Of the ACL, and of what it names. */
export const adminRuleIdentity = (network: string, rule: string, tier: AdminTier): DatabaseId =>
  tier === 'firewall'
    ? firewallRuleIdentity(network, rule)
    : databaseId(controllerName(network), 'AdminRule', { 'k8s.ovn.org/name': rule });
