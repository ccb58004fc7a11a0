/**
 * A rule on the switch with its network's pods: one ACL, and the sets that it names. Its targets are a set of addresses and no port group:
 * each change of a port group has every ACL reprocessed that names it (docs/adr/0111), and port security keeps others from these addresses.
 * Where a network has no addresses that anybody gave, they are a port group all the same (docs/adr/0125).
 */
import { type DesiredRow, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { databaseId } from '../../model/database-ids.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { controllerName } from '../../model/names.ts';
import type { PolicyRuleFact } from '../../model/policies/facts.ts';
import { blockSetName, targetSetName } from '../../model/policies/ids.ts';
import { hasTargetGroups } from '../../model/policies/target-groups.ts';
import { ACL_RANKS } from '../../model/registry/acls.ts';
import { aclKey, portGroupKey, switchKey } from '../../model/row-keys.ts';
import { podSwitchName, programmedNetwork } from '../shared/local-network.ts';
import { policyAcl } from './acl.ts';
import { addressSet } from './address-set.ts';
import { blocksInSet, portRuleMatch, ruleMatch } from './match.ts';

export const policyRules: FeatureOver<'policyRule'> = {
  name: 'policy-rules',
  over: 'policyRule',
  render: ({ rule: id }, view) => {
    const rule = view.policyRule(id);
    const here = rule && programmedNetwork(rule.network, view);
    if (rule === undefined || here === undefined) return EMPTY_FRAGMENT;
    const keys = { 'k8s.ovn.org/name': id, direction: rule.direction, 'ip-family': String(rule.family) };
    const identity = databaseId(controllerName(rule.network), 'NetpolRule', keys);
    const byPort = hasTargetGroups(here.network);
    const acl = aclOf(id, rule, identity, byPort);
    const blocks = blocksInSet(rule);
    return {
      northbound: {
        rows: [
          byPort ? targetGroup(id, identity.externalIds) : addressSet(targetSetName(id), identity.externalIds),
          ...(blocks.length === 0 ? [] : [addressSet(blockSetName(id), identity.externalIds, blocks)]),
          ...(acl === undefined ? [] : [acl]),
        ],
        ...(acl !== undefined && {
          members: [
            {
              table: 'Logical_Switch',
              row: switchKey(podSwitchName(here.network, view.node)),
              column: 'acls',
              value: rowRef(aclKey(identity.id)),
            },
          ],
        }),
      },
    };
  },
};

const targetGroup = (
  id: string,
  externalIds: Readonly<Record<string, string>>,
): DesiredRow<OvnNorthbound, 'Port_Group'> => {
  const name = targetSetName(id);
  return { table: 'Port_Group', key: portGroupKey(name), columns: { name, acls: [], external_ids: externalIds } };
};

const aclOf = (
  id: string,
  rule: PolicyRuleFact,
  identity: Parameters<typeof policyAcl>[0],
  byPort: boolean,
): DesiredRow<OvnNorthbound, 'ACL'> | undefined => {
  const match = byPort ? portRuleMatch(id, rule) : ruleMatch(id, rule);
  if (match === undefined) return undefined;
  const { direction, stateless, log } = rule;
  const action = stateless === true ? 'allow-stateless' : 'allow-related';
  return policyAcl(identity, { direction, action, rank: ACL_RANKS.policyAllow, match, log });
};
