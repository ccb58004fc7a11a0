/**
 * Pods of this node that an administrators' policy is about, as sets of addresses, with what the policy may not take from them: the node
 * reaches its pods, or no probe of the kubelet would pass and the pods of a namespace be restarted for ever.
 */
import { managementIp } from '../../../api/network.ts';
import { FAMILIES, type Ip, ipFamily } from '../../../net/ip.ts';
import { type DesiredFragment, type DesiredRow, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { databaseId } from '../../model/database-ids.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { controllerName } from '../../model/names.ts';
import type { SubjectSetFact } from '../../model/policies/facts.ts';
import { subjectSetName } from '../../model/policies/ids.ts';
import { ACL_RANKS } from '../../model/registry/acls.ts';
import { aclKey, switchKey } from '../../model/row-keys.ts';
import { podSwitchName, routedNetwork } from '../shared/local-network.ts';
import { merge } from '../shared/ovn/merge.ts';
import { policyAcl } from './acl.ts';
import { addressSet } from './address-set.ts';
import { adminRuleIdentity } from './admin-identity.ts';
import { firewallPasses } from './firewall.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

export const adminSubjects: FeatureOver<'subjectSet'> = {
  name: 'policy-admin-subjects',
  over: 'subjectSet',
  render: ({ set: id }, view) => {
    const set = view.subjectSet(id);
    const here = set && routedNetwork(set.network, view);
    if (set === undefined || here === undefined) return EMPTY_FRAGMENT;
    const onSwitch = podSwitchName(here.network, view.node);
    const ips = here.subnets.map((subnet) => managementIp(here.network, subnet));
    return {
      northbound: merge(
        { rows: setRows(id, set) },
        ...(set.tier === 'firewall'
          ? firewallPasses(id, set, { network: here.network, view }).map((acl) => onSwitchOf(onSwitch, acl))
          : set.port === undefined
            ? [...ips.map((ip) => nodeAllow(id, set, onSwitch, ip)), ...passes(id, set, onSwitch)]
            : []),
      ),
    };
  },
};

/** A port is not without its sets, and a new set not without what it is there for: so no pod is open while its rules are to come. */
const setRows = (id: string, { network, drops, tier }: SubjectSetFact): DesiredRow<OvnNorthbound, 'Address_Set'>[] =>
  FAMILIES.map((family) => {
    const keys = { 'k8s.ovn.org/name': id, 'ip-family': String(family) };
    const { externalIds } = databaseId(controllerName(network), 'AdminSubjects', keys);
    const needs = drops.map((rule) => aclKey(adminRuleIdentity(network, rule, tier).id));
    return { ...addressSet(subjectSetName(id, family), externalIds), ...(needs.length > 0 && { needs }) };
  });

/** As for pods that a network policy isolates: see `passes` of `deny-group.ts`. Without, a connection that becomes forbidden goes on. */
const passes = (id: string, { network, tier }: SubjectSetFact, onSwitch: string): Northbound[] => {
  const { isolatedPass, isolatedPassAdmin, subjectPassPolicy } = ACL_RANKS;
  const above = tier === 'admin' ? [isolatedPass] : [isolatedPass, isolatedPassAdmin, subjectPassPolicy];
  return FAMILIES.flatMap((family) =>
    above.map((rank) => {
      const keys = { 'k8s.ovn.org/name': id, 'ip-family': String(family), tier: String(rank.tier) };
      const match = `ip${family}.dst == $${subjectSetName(id, family)}`;
      const identity = databaseId(controllerName(network), 'AdminPass', keys);
      return onSwitchOf(onSwitch, policyAcl(identity, { direction: 'Ingress', action: 'pass', rank, match }));
    }),
  );
};

const nodeAllow = (id: string, { network }: SubjectSetFact, onSwitch: string, ip: Ip): Northbound => {
  const family = ipFamily(ip);
  const identity = databaseId(controllerName(network), 'AdminNode', { 'k8s.ovn.org/name': id, ip });
  return onSwitchOf(
    onSwitch,
    policyAcl(identity, {
      direction: 'Ingress',
      action: 'allow-related',
      rank: ACL_RANKS.adminNodeAllow,
      match: `ip${family}.src == ${ip} && ip${family}.dst == $${subjectSetName(id, family)}`,
    }),
  );
};

const onSwitchOf = (onSwitch: string, acl: DesiredRow<OvnNorthbound, 'ACL'>): Northbound => ({
  rows: [acl],
  members: [{ table: 'Logical_Switch', row: switchKey(onSwitch), column: 'acls', value: rowRef(acl.key) }],
});
