/**
 * A rule on the switch with its network's pods: one ACL, and the sets that it names. Its targets are a set of addresses and no port group:
 * each change of a port group has every ACL reprocessed that names it (docs/adr/0111), and port security keeps others from these addresses.
 */
import { type DesiredRow, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { databaseId } from '../../model/database-ids.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { controllerName } from '../../model/names.ts';
import type { PolicyRuleFact } from '../../model/policies/facts.ts';
import { blockSetName, targetSetName } from '../../model/policies/ids.ts';
import { ACL_RANKS } from '../../model/registry/acls.ts';
import { aclKey, switchKey } from '../../model/row-keys.ts';
import { podSwitchName, routedNetwork } from '../shared/local-network.ts';
import { policyAcl } from './acl.ts';
import { addressSet } from './address-set.ts';
import { blocksInSet, ruleMatch } from './match.ts';

export const policyRules: FeatureOver<'policyRule'> = {
  name: 'policy-rules',
  over: 'policyRule',
  render: ({ rule: id }, view) => {
    const rule = view.policyRule(id);
    const here = rule && routedNetwork(rule.network, view);
    if (rule === undefined || here === undefined) return EMPTY_FRAGMENT;
    const keys = { 'k8s.ovn.org/name': id, direction: rule.direction, 'ip-family': String(rule.family) };
    const identity = databaseId(controllerName(rule.network), 'NetpolRule', keys);
    const acl = aclOf(id, rule, identity);
    const blocks = blocksInSet(rule);
    return {
      northbound: {
        rows: [
          addressSet(targetSetName(id), identity.externalIds),
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

const aclOf = (
  id: string,
  rule: PolicyRuleFact,
  identity: Parameters<typeof policyAcl>[0],
): DesiredRow<OvnNorthbound, 'ACL'> | undefined => {
  const match = ruleMatch(id, rule);
  if (match === undefined) return undefined;
  const { direction, stateless, log } = rule;
  const action = stateless === true ? 'allow-stateless' : 'allow-related';
  return policyAcl(identity, { direction, action, rank: ACL_RANKS.policyAllow, match, log });
};
