/**
 * Two port groups, one per direction, of isolated pods of a network, whose traffic is dropped unless a rule allows it. Neighbours stay
 * reachable, and so does a pod for itself through its Service: no policy can forbid that (Kubernetes, "Network Policies").
 * Pods whose drops are logged are in a group more, which drops and logs before this one: who has the log changed opens nothing, in
 * however many transactions the pods go from one such group to another.
 * Only what drops names the group: ovn-controller considers each logical flow that does, whenever a port comes or goes, and what may pass to an
 * isolated pod may pass to the others of its switch, too.
 */
import { masqueradeAddresses } from '../../../api/cluster-config.ts';
import { ipFamily } from '../../../net/ip.ts';
import { type DesiredFragment, type DesiredRow, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { databaseId } from '../../model/database-ids.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { controllerName } from '../../model/names.ts';
import type { AclLog, DenyGroupFact, PolicyDirection } from '../../model/policies/facts.ts';
import { denyGroupId, denyGroupName } from '../../model/policies/ids.ts';
import { ACL_RANKS } from '../../model/registry/acls.ts';
import { portGroupKey } from '../../model/row-keys.ts';
import type { View } from '../../model/view.ts';
import { merge } from '../shared/ovn/merge.ts';
import { type PolicyAcl, policyAcl } from './acl.ts';

/** It is rendered wherever its network is: a pod's port waits for its group. */
export const denyGroups: FeatureOver<'denyGroup'> = {
  name: 'policy-deny',
  over: 'denyGroup',
  render: ({ group: id }, view) => {
    const group = view.denyGroup(id);
    if (group === undefined) return EMPTY_FRAGMENT;
    return { northbound: merge(...DIRECTIONS.flatMap((direction) => rowsOf(id, group, direction, view))) };
  },
};

/** The group of all that are isolated is there wherever one is whose drops are logged. */
const rowsOf = (id: string, group: DenyGroupFact, direction: PolicyDirection, view: View) => {
  const { network } = group;
  const all = denyRows({ id: denyGroupId({ network }), network, direction }, view);
  return group.log === undefined ? [all] : [all, logRows({ id, ...group, direction })];
};

const DIRECTIONS: readonly PolicyDirection[] = ['Ingress', 'Egress'];

interface DenyGroup extends DenyGroupFact {
  readonly id: string;
  readonly direction: PolicyDirection;
}

const denyRows = (group: DenyGroup, { cluster }: View): DesiredFragment<OvnNorthbound> => {
  const pods = matchOf(group.id, group.direction);
  const hairpin = masqueradeAddresses(cluster, 'serviceHairpin');
  const acls = [
    aclOf(group, 'defaultDeny', { action: 'drop', rank: ACL_RANKS.policyDeny, match: pods }),
    aclOf(group, 'arpAllow', { ...ALLOW, match: 'arp || nd' }),
    ...hairpin.map((ip) =>
      aclOf(group, `hairpinAllow${ipFamily(ip)}`, { ...ALLOW, match: `ip${ipFamily(ip)}.src == ${ip}` }),
    ),
    ...(group.direction === 'Ingress' ? passes(group) : []),
  ];
  return { rows: [...acls, groupOf(group, acls)] };
};

const ALLOW = { action: 'allow', rank: ACL_RANKS.policyAllow } as const;

/**
 * Without an ACL of an upper tier that says "go on", northd's default of that tier decides about connections that were there before: it
 * lets a packet of a blocked one through and unblocks it (25.03, `ct.est && ct_mark.blocked == 1` at priority 1 of ls_out_acl_eval, which asks
 * for no tier), so that every second packet of a forbidden connection arrives. What is looked at after load balancing has no such default.
 */
const passes = (group: DenyGroup): DesiredRow<OvnNorthbound, 'ACL'>[] =>
  (['isolatedPass', 'isolatedPassAdmin'] as const).map((rank) =>
    aclOf(group, rank, { action: 'pass', match: 'ip', rank: ACL_RANKS[rank] }),
  );

const logRows = (group: DenyGroup): DesiredFragment<OvnNorthbound> => {
  const { id, direction } = group;
  const match = matchOf(id, direction);
  const acl = aclOf(group, 'defaultDeny', {
    action: 'drop',
    rank: ACL_RANKS.policyDenyLogged,
    match,
    log: logOf(group),
  });
  return { rows: [acl, groupOf(group, [acl])] };
};

const matchOf = (id: string, direction: PolicyDirection): string =>
  `${direction === 'Ingress' ? 'outport' : 'inport'} == @${denyGroupName(id, direction)}`;

const groupOf = (
  { id, network, direction }: DenyGroup,
  acls: readonly DesiredRow<OvnNorthbound, 'ACL'>[],
): DesiredRow<OvnNorthbound, 'Port_Group'> => {
  const name = denyGroupName(id, direction);
  const { externalIds } = databaseId(controllerName(network), OWNER_TYPE, { 'k8s.ovn.org/name': id, direction });
  const columns = { name, acls: acls.map(({ key }) => rowRef(key)), external_ids: externalIds };
  return { table: 'Port_Group', key: portGroupKey(name), columns };
};

const OWNER_TYPE = 'NetpolDeny';

const aclOf = ({ id, network, direction }: DenyGroup, type: string, acl: Omit<PolicyAcl, 'direction'>) =>
  policyAcl(databaseId(controllerName(network), OWNER_TYPE, { 'k8s.ovn.org/name': id, direction, type }), {
    direction,
    ...acl,
  });

const logOf = ({ log, direction }: DenyGroup): AclLog | undefined =>
  log && { name: `NP:${log.namespace}:${direction}`, severity: log.severity };
