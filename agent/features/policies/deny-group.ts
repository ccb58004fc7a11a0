/**
 * Two port groups for each direction of isolated pods of a network, whose traffic is dropped unless a rule allows it. Neighbours stay
 * reachable, and so does a pod for itself through its Service: no policy can forbid that (Kubernetes, "Network Policies").
 */
import { masqueradeAddresses } from '../../../api/cluster-config.ts';
import { ipFamily } from '../../../net/ip.ts';
import { type DesiredFragment, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { databaseId } from '../../model/database-ids.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { controllerName } from '../../model/names.ts';
import type { AclLog, DenyGroupFact, PolicyDirection } from '../../model/policies/facts.ts';
import { denyGroupName } from '../../model/policies/ids.ts';
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
    return { northbound: merge(...DIRECTIONS.map((direction) => denyRows({ id, ...group, direction }, view))) };
  },
};

const DIRECTIONS: readonly PolicyDirection[] = ['Ingress', 'Egress'];

interface DenyGroup extends DenyGroupFact {
  readonly id: string;
  readonly direction: PolicyDirection;
}

const denyRows = (group: DenyGroup, { cluster }: View): DesiredFragment<OvnNorthbound> => {
  const { id, network, direction } = group;
  const name = denyGroupName(id, direction);
  const pods = direction === 'Ingress' ? `outport == @${name}` : `inport == @${name}`;
  const hairpin = masqueradeAddresses(cluster, 'serviceHairpin');
  const acls = [
    aclOf(group, 'defaultDeny', { action: 'drop', match: pods, log: logOf(group) }),
    aclOf(group, 'arpAllow', { action: 'allow', match: `${pods} && (arp || nd)` }),
    ...hairpin.map((ip) =>
      aclOf(group, `hairpinAllow${ipFamily(ip)}`, {
        action: 'allow',
        match: `${pods} && ip${ipFamily(ip)}.src == ${ip}`,
      }),
    ),
  ];
  const { externalIds } = databaseId(controllerName(network), OWNER_TYPE, { 'k8s.ovn.org/name': id, direction });
  const columns = { name, acls: acls.map(({ key }) => rowRef(key)), external_ids: externalIds };
  return { rows: [...acls, { table: 'Port_Group', key: portGroupKey(name), columns }] };
};

const OWNER_TYPE = 'NetpolDeny';

const aclOf = ({ id, network, direction }: DenyGroup, type: string, acl: Pick<PolicyAcl, 'action' | 'match' | 'log'>) =>
  policyAcl(databaseId(controllerName(network), OWNER_TYPE, { 'k8s.ovn.org/name': id, direction, type }), {
    direction,
    rank: acl.action === 'drop' ? ACL_RANKS.policyDeny : ACL_RANKS.policyAllow,
    ...acl,
  });

const logOf = ({ log, direction }: DenyGroup): AclLog | undefined =>
  log && { name: `NP:${log.namespace}:${direction}`, severity: log.severity };
