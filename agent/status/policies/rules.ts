/** Rules that policies have on this node. */
import type { PolicyRuleStatus } from '../../../api/policy-status.ts';
import { worst } from '../../../base/reconciler.ts';
import { podOfId } from '../../model/facts.ts';
import { targetSetName } from '../../model/policies/ids.ts';
import { statusOf } from '../../reconcile/reconcilers.ts';
import { stateOf } from '../programming-state.ts';
import type { PolicyReportSources } from './sources.ts';
import { peersText, portsText } from './words.ts';

export const ruleStatuses = (sources: PolicyReportSources, rules: readonly string[]): PolicyRuleStatus[] => {
  const { facts, reconcilers, policyLookup, ownersOver } = sources;
  const targets = targetsOf(sources, new Set(rules));
  const members = membersOf(sources);
  return rules.flatMap((id) => {
    const rule = facts.get('policyRule', id);
    if (rule === undefined) return [];
    const { network, direction, family, peers, l4, stateless, log } = rule;
    return {
      ...{ id, network, direction, family },
      peers: peersText(peers, facts),
      ...(peers.kind === 'set' && { peerPods: members.get(peers.set) ?? 0 }),
      ports: portsText(l4),
      ...(stateless && { stateless }),
      ...(log !== undefined && { log: log.name }),
      targets: (targets.get(id) ?? []).map(podOfId).sort(),
      policies: [...policyLookup.policiesOfRule(id)].sort(),
      targetSet: targetSetName(id),
      ...stateOf(worst(ownersOver('policyRule', id).map((owner) => statusOf(reconcilers, owner)))),
    };
  });
};

const targetsOf = ({ facts }: PolicyReportSources, rules: ReadonlySet<string>): ReadonlyMap<string, string[]> => {
  const targets = new Map<string, string[]>();
  for (const pod of facts.ids('podPolicy')) {
    for (const rule of facts.get('podPolicy', pod)?.rules ?? []) {
      const known = targets.get(rule);
      if (known !== undefined) known.push(pod);
      else if (rules.has(rule)) targets.set(rule, [pod]);
    }
  }
  return targets;
};

/** How many pods are in each set. */
const membersOf = ({ facts }: PolicyReportSources): ReadonlyMap<string, number> => {
  const members = new Map<string, number>();
  for (const peer of facts.ids('policyPeer'))
    for (const set of facts.get('policyPeer', peer)?.sets.keys() ?? []) members.set(set, (members.get(set) ?? 0) + 1);
  return members;
};
