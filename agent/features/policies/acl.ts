/** ACLs of policies: where packets of a direction are looked at, and how that is logged. */
import type { DesiredRow } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import type { DatabaseId } from '../../model/database-ids.ts';
import { ACL_LOGGING_METER } from '../../model/names.ts';
import type { AclLog, PolicyDirection } from '../../model/policies/facts.ts';
import type { AclRank } from '../../model/registry/acls.ts';
import { aclKey } from '../../model/row-keys.ts';

export interface PolicyAcl {
  readonly direction: PolicyDirection;
  readonly action: 'allow' | 'allow-related' | 'allow-stateless' | 'drop' | 'pass';
  readonly rank: Pick<AclRank, 'tier' | 'priority'>;
  readonly match: string;
  readonly log?: AclLog | undefined;
}

export const policyAcl = (
  { id, externalIds }: DatabaseId,
  { direction, action, rank: { tier, priority }, match, log }: PolicyAcl,
): DesiredRow<OvnNorthbound, 'ACL'> => ({
  table: 'ACL',
  key: aclKey(id),
  columns: {
    direction: direction === 'Egress' ? 'from-lport' : 'to-lport',
    // A policy is about pods, not about the ClusterIPs that stand for them: what is sent is looked at once it is translated.
    options: direction === 'Egress' ? { 'apply-after-lb': 'true' } : {},
    action,
    priority,
    tier,
    match,
    log: log !== undefined,
    name: log?.name.slice(0, MAX_ACL_NAME),
    severity: log?.severity,
    meter: ACL_LOGGING_METER,
    external_ids: externalIds,
  },
});

/** ovn-nb.ovsschema: `name` of ACL. */
export const MAX_ACL_NAME = 63;
