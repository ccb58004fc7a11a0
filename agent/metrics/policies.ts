/** How much of network policies this node has. */
import type { PolicyKeeper } from '../inputs/policy-keeper.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { AgentMetrics } from './metrics.ts';

export const observePolicies = (
  { gauge }: Pick<AgentMetrics, 'gauge'>,
  facts: FactStore,
  policies: Pick<PolicyKeeper, 'failed' | 'rebuilds'>,
): void => {
  gauge('udn_agent_policy_rules', () => [...facts.ids('policyRule')].length);
  gauge('udn_agent_firewall_rules', () => firewallRulesIn(facts));
  gauge('udn_agent_policy_peer_sets', () => [...facts.ids('peerSet')].length);
  gauge('udn_agent_policy_set_members', () => membersIn(facts));
  gauge('udn_agent_policy_failures', () => policies.failed().length);
  gauge('udn_agent_policy_rebuilds', () => policies.rebuilds);
};

const firewallRulesIn = (facts: FactStore): number =>
  [...facts.ids('adminRule')].filter((id) => facts.get('adminRule', id)?.tier === 'firewall').length;

const membersIn = (facts: FactStore): number => {
  let members = 0;
  for (const pod of facts.ids('policyPeer')) {
    for (const addresses of facts.get('policyPeer', pod)?.sets.values() ?? []) members += addresses.length;
  }
  return members;
};
