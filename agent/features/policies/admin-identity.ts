import { type DatabaseId, databaseId } from '../../model/database-ids.ts';
import { controllerName } from '../../model/names.ts';

/** Of the ACL, and of what it names. */
export const adminRuleIdentity = (network: string, rule: string): DatabaseId =>
  databaseId(controllerName(network), 'AdminRule', { 'k8s.ovn.org/name': rule });
