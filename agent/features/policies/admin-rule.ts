/** Rules of administrators' policies and of firewalls: an ACL each on the switch with its network's pods, and the sets that it names. */
import { type DesiredRow, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import type { AdminRuleFact } from '../../model/policies/facts.ts';
import { blockSetName, nodeSetName } from '../../model/policies/ids.ts';
import { ACL_RANKS } from '../../model/registry/acls.ts';
import { aclKey, switchKey } from '../../model/row-keys.ts';
import { podSwitchName, routedNetwork } from '../shared/local-network.ts';
import { type PolicyAcl, policyAcl } from './acl.ts';
import { addressSet } from './address-set.ts';
import { adminRuleIdentity } from './admin-identity.ts';
import { type FirewallSite, firewallRule } from './firewall.ts';
import { adminRuleMatch, blocksInSet } from './match.ts';

export const adminRules: FeatureOver<'adminRule'> = {
  name: 'policy-admin-rules',
  over: 'adminRule',
  render: ({ rule: id }, view) => {
    const rule = view.adminRule(id);
    const here = rule && routedNetwork(rule.network, view);
    const match = rule && adminRuleMatch(id, rule);
    if (rule === undefined || here === undefined || match === undefined) return EMPTY_FRAGMENT;
    const identity = adminRuleIdentity(rule.network, id, rule.tier);
    const acl = aclOf(id, rule, match, { network: here.network, view });
    const onSwitch = switchKey(podSwitchName(here.network, view.node));
    return {
      northbound: {
        rows: [...setsOf(id, rule).map(([name, members]) => addressSet(name, identity.externalIds, members)), acl],
        members: [{ table: 'Logical_Switch', row: onSwitch, column: 'acls', value: rowRef(aclKey(identity.id)) }],
      },
    };
  },
};

const aclOf = (
  id: string,
  rule: AdminRuleFact,
  match: string,
  site: FirewallSite,
): DesiredRow<OvnNorthbound, 'ACL'> => {
  const { direction, action, priority, tier, network } = rule;
  if (tier === 'firewall') return firewallRule(id, rule, match, site);
  const rank = { tier: TIERS[tier], priority };
  return policyAcl(adminRuleIdentity(network, id, tier), { direction, action: ACTIONS[action], rank, match });
};

/** What is allowed or dropped here ends the evaluation of all tiers; `pass` goes on with the next tier: ovn-nb(5), ACL. */
const ACTIONS = { allow: 'allow-related', deny: 'drop', pass: 'pass' } as const satisfies Readonly<
  Record<AdminRuleFact['action'], PolicyAcl['action']>
>;
const TIERS = { admin: ACL_RANKS.adminRules.tier, baseline: ACL_RANKS.baselineRules.tier };

const setsOf = (id: string, rule: AdminRuleFact): [name: string, members: readonly string[]][] => {
  if (rule.peers.kind === 'nodes') return [[nodeSetName(id), rule.peers.addresses]];
  const blocks = blocksInSet(rule);
  return blocks.length === 0 ? [] : [[blockSetName(id), blocks]];
};
