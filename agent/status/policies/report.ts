/** The network policies of this node: what each isolates here, its rules, and how far these are programmed. */
import type { IsolatedPodStatus, PoliciesStatus, PolicyRuleStatus, PolicyStatus } from '../../../api/policy-status.ts';
import { worst } from '../../../base/reconciler.ts';
import type { PolicyDescription } from '../../inputs/policies/describe.ts';
import type { PolicyDirection } from '../../model/policies/facts.ts';
import { denyGroupName, targetSetName } from '../../model/policies/ids.ts';
import { statusOf } from '../../reconcile/reconcilers.ts';
import { stateOf } from '../programming-state.ts';
import type { PolicyReportSources } from './sources.ts';
import { peersText, portsText } from './words.ts';

/** Looks at every policy and every rule: somebody asks for it now and then. */
export const reportPolicies = (sources: PolicyReportSources): PoliciesStatus => {
  const { policyLookup } = sources;
  const policies = [...policyLookup.policies()].sort().flatMap((key) => policyLookup.describe(key) ?? []);
  const byRule = new Map<string, string[]>();
  for (const { policy, rules } of policies)
    for (const { id } of rules) push(byRule, id, `${policy.namespace}/${policy.name}`);
  return {
    isRead: policyLookup.isRead(),
    policies: policies.map(policyStatus),
    rules: ruleStatuses(sources, byRule),
    pods: podStatuses(sources),
  };
};

const policyStatus = ({ policy, targets, rules, problems }: PolicyDescription): PolicyStatus => {
  const texts = (isNote: boolean): string[] =>
    problems.filter(({ severity }) => (severity === 'warning') === isNote).map(({ message }) => message);
  return {
    namespace: policy.namespace,
    name: policy.name,
    types: [...policy.types],
    problems: texts(false),
    notes: texts(true),
    targets: [...targets],
    rules: rules.map(({ id }) => id),
  };
};

const ruleStatuses = (
  { facts, reconcilers, ownersOfRule }: PolicyReportSources,
  policies: ReadonlyMap<string, readonly string[]>,
): PolicyRuleStatus[] => {
  const targets = new Map<string, string[]>();
  for (const pod of facts.ids('podPolicy'))
    for (const rule of facts.get('podPolicy', pod)?.rules ?? []) push(targets, rule, pod);
  const members = new Map<string, number>();
  for (const peer of facts.ids('policyPeer'))
    for (const set of facts.get('policyPeer', peer)?.sets.keys() ?? []) members.set(set, (members.get(set) ?? 0) + 1);
  return [...facts.ids('policyRule')].flatMap((id) => {
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
      targets: (targets.get(id) ?? []).sort(),
      policies: [...(policies.get(id) ?? [])],
      targetSet: targetSetName(id),
      ...stateOf(statusOfAll(reconcilers, ownersOfRule(id))),
    };
  });
};

const podStatuses = ({ facts, reconcilers, policyLookup, ownersOfPod }: PolicyReportSources): IsolatedPodStatus[] =>
  [...facts.ids('podPolicy')].sort().flatMap((pod) => {
    const fact = facts.get('podPolicy', pod);
    if (fact === undefined) return [];
    return {
      pod,
      network: fact.network,
      directions: fact.isolated.map((direction) => ({
        direction,
        policies: isolatingPolicies(policyLookup, pod, direction),
        denyGroup: denyGroupName(fact.denyGroup, direction),
      })),
      rules: [...fact.rules],
      ...stateOf(statusOfAll(reconcilers, ownersOfPod(pod))),
    };
  });

export const isolatingPolicies = (
  { isolating }: PolicyReportSources['policyLookup'],
  pod: string,
  direction: PolicyDirection,
): string[] => isolating(pod).flatMap(({ policy, types }) => (types.includes(direction) ? policy : []));

const statusOfAll = (reconcilers: PolicyReportSources['reconcilers'], owners: readonly string[]) =>
  worst(owners.map((owner) => statusOf(reconcilers, owner)));

const push = <Value>(map: Map<string, Value[]>, key: string, value: Value): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
};
