/** The network policies of this node: what each isolates here, its rules, and how far these are programmed. */
import { matchesSelector } from '../../../api/label-selector.ts';
import type { IsolatedPodStatus, PoliciesStatus, PolicyRuleStatus, PolicyStatus } from '../../../api/policy-status.ts';
import { worst } from '../../../base/reconciler.ts';
import type { PolicyPod, PolicyProjection } from '../../inputs/policies/types.ts';
import { denyGroupName, targetSetName } from '../../model/policies/ids.ts';
import { statusOf } from '../../reconcile/reconcilers.ts';
import { stateOf } from '../programming-state.ts';
import type { PolicyReportSources } from './sources.ts';
import { peersText, portsText } from './words.ts';

/** Looks at every policy and every pod: somebody asks for it now and then. */
export const reportPolicies = (sources: PolicyReportSources): PoliciesStatus => {
  const { policyLookup } = sources;
  const targets = targetsByPolicy(policyLookup);
  const selected = [...targets.values()];
  const rules = ruleStatuses(sources);
  const rulesOf = new Map<string, string[]>();
  for (const { id, policies } of rules) for (const policy of policies) push(rulesOf, policy, id);
  return {
    isRead: policyLookup.isRead(),
    policies: selected.map((one) => policyStatus(one, rulesOf)).sort(byName),
    rules,
    pods: podStatuses(sources, selected),
  };
};

interface Selected {
  readonly projection: PolicyProjection;
  readonly targets: readonly string[];
}

/** By `namespace/name`. */
const targetsByPolicy = ({ pods, policies }: Lookup): ReadonlyMap<string, Selected> => {
  const local = Map.groupBy(
    [...pods()].filter(([, pod]) => pod.isLocal && !pod.finished),
    ([, { namespace }]) => namespace,
  );
  return new Map(
    [...policies()].map((projection) => {
      const { policy } = projection;
      const targets = (local.get(policy.namespace) ?? []).filter(selectedBy(projection)).map(([key]) => key);
      return [keyOf(projection), { projection, targets: targets.sort() }] as const;
    }),
  );
};

const selectedBy =
  ({ policy }: PolicyProjection) =>
  ([, { labels }]: readonly [string, PolicyPod]): boolean =>
    matchesSelector(policy.podSelector, labels);

type Lookup = PolicyReportSources['policyLookup'];

const policyStatus = (
  { projection, targets }: Selected,
  rulesOf: ReadonlyMap<string, readonly string[]>,
): PolicyStatus => {
  const { policy, problems } = projection;
  return {
    namespace: policy.namespace,
    name: policy.name,
    types: [...policy.types],
    problems: problems.map(({ message }) => message),
    targets: [...targets],
    rules: [...(rulesOf.get(keyOf(projection)) ?? [])],
  };
};

const ruleStatuses = ({ facts, reconcilers, policyLookup, ownersOfRule }: PolicyReportSources): PolicyRuleStatus[] => {
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
      policies: [...policyLookup.policiesOfRule(id)].sort(),
      targetSet: targetSetName(id),
      ...stateOf(statusOfAll(reconcilers, ownersOfRule(id))),
    };
  });
};

const podStatuses = (
  { facts, reconcilers, ownersOfPod }: PolicyReportSources,
  selected: readonly Selected[],
): IsolatedPodStatus[] => {
  const selecting = new Map<string, PolicyProjection[]>();
  for (const { projection, targets } of selected) for (const pod of targets) push(selecting, pod, projection);
  return [...facts.ids('podPolicy')].sort().flatMap((pod) => {
    const fact = facts.get('podPolicy', pod);
    if (fact === undefined) return [];
    const of = selecting.get(pod) ?? [];
    return {
      pod,
      network: fact.network,
      directions: fact.isolated.map((direction) => ({
        direction,
        policies: of
          .filter(({ policy }) => policy.types.includes(direction))
          .map(keyOf)
          .sort(),
        denyGroup: denyGroupName(fact.denyGroup, direction),
      })),
      rules: [...fact.rules],
      ...stateOf(statusOfAll(reconcilers, ownersOfPod(pod))),
    };
  });
};

const statusOfAll = (reconcilers: PolicyReportSources['reconcilers'], owners: readonly string[]) =>
  worst(owners.map((owner) => statusOf(reconcilers, owner)));

const keyOf = ({ policy: { namespace, name } }: PolicyProjection): string => `${namespace}/${name}`;

const byName = (a: PolicyStatus, b: PolicyStatus): number =>
  `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1;

const push = <Value>(map: Map<string, Value[]>, key: string, value: Value): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
};
